/** How a job began: the text of its first message, and the request. The service stores them only for some time. */
import type { BatchContent, BatchItem, Chunk } from '../../../../shared/campaigns/batch.ts';
import { chunkKey } from '../../../../shared/campaigns/entities.ts';
import { positionOf } from '../../../../shared/campaigns/ids.ts';
import { pendingBatchesOfJob, readBatch } from '../../../../shared/campaigns/stored-batch.ts';
import { logPartitions, messageIdOf } from '../../../../shared/outbox/entities.ts';
import { getConsistent, page } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import type { AppEvent, Inbox } from '../../simulators/app-network/inbox.ts';
import type { JobView } from './views.ts';

/** Each is null if it is not known any more: the service removes the content of a batch when all its messages exist. */
export interface JobBeginning extends Pick<JobView, 'title' | 'request' | 'priority'> {}

/** How a job of an account began; a job that a request named, but no default job. */
export const beginningOf = async (account: string, job: string, inbox: Inbox): Promise<JobBeginning> => {
  const logged = await firstLogged(account, job);
  const id = logged && messageIdOf(logged);
  const place = id === undefined ? undefined : positionOf(id);
  const inInbox = logged && id !== undefined ? titleInInbox(inbox, logged.phone, id) : null;
  const batch = place ? await readBatch(account, place.batch) : (await pendingBatchesOfJob(account, job))[0];
  if (batch === undefined) return { title: inInbox, request: place ? null : 'POST /v1/message', priority: null };
  const { content, priority } = batch;
  if (content !== undefined) return { title: titleOf(content), request: 'POST /v1/message', priority };
  const first = await firstContent(batch);
  return { title: first ? titleOf(first) : inInbox, request: first ? 'POST /v1/messages' : null, priority };
};

const firstLogged = async (account: string, job_id: string): Promise<(Key & { phone: string }) | undefined> => {
  const { items } = await page<Key & { phone: string }>({
    IndexName: 'gsi3',
    KeyConditionExpression: 'gsi3pk = :job',
    ExpressionAttributeValues: { ':job': logPartitions.gsi3(account, { job_id, state: 'sent' }) },
    ProjectionExpression: 'pk, sk, phone',
    Limit: 1,
  });
  return items[0];
};

/** The content of a batch's first message, while its chunks exist. */
const firstContent = async ({ upload, chunks: [first] }: BatchItem): Promise<BatchContent | undefined> =>
  first === undefined ? undefined : (await getConsistent<Chunk>(chunkKey(upload, first)))?.contents?.[0];

const titleInInbox = (inbox: Inbox, phone: string, id: string): string | null => {
  for (const { type, data } of inbox.sentTo(phone)) {
    const event = { type, data } as AppEvent;
    if (event.type === 'message.send' && event.data.id === id) return titleOf(event.data);
  }
  return null;
};

const titleOf = (content: { type: string; text?: { body: string } }): string | null => {
  if (content.type === 'text') return content.text?.body ?? null;
  return content.type === 'image' ? 'A picture' : 'A file';
};
