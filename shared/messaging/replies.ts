/** Replies: messages to a user who has written to the business a short time ago. They need not wait for sending hours. */
import { now, scaled, secondsFromNow } from '../core/clock.ts';
import { getConsistent, put, remove } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { lastWrittenKey } from './entities.ts';
import type { ErasedIdentity } from './erased-identity.ts';

interface LastWrittenItem extends Key {
  /** In milliseconds since 1970. */
  written: number;
  expires_at: number;
}

/** Milliseconds after a user's message in which a message to the user is a reply. */
const REPLY_MS = 600_000;

/** Notes that a user has written to an account just now. 1 write unit. */
export const noteWritten = (account: string, phone: string): Promise<void> =>
  put<LastWrittenItem>({
    ...lastWrittenKey(account, phone),
    written: now(),
    expires_at: secondsFromNow(scaled(REPLY_MS) / 1_000),
  });

/** Whether a user has written to an account within the last ten minutes. 1 read unit. */
export const hasWritten = async (account: string, phone: string): Promise<boolean> => {
  const item = await getConsistent<LastWrittenItem>(lastWrittenKey(account, phone));
  return item !== undefined && item.written + scaled(REPLY_MS) > now();
};

/** Removes what is noted of an erased user, and not of the number's next owner. 1 write unit. */
export const forgetWritten = async (account: string, { phone, until }: ErasedIdentity): Promise<void> => {
  await remove(lastWrittenKey(account, phone), {
    ConditionExpression: 'written <= :until',
    ExpressionAttributeValues: { ':until': Date.parse(`${until}Z`) },
  });
};
