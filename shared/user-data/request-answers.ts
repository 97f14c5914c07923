/** Users' answers to user data requests: approved values are copied from the profile. */
import { findAccount } from '../accounts/accounts.ts';
import { secondsFromNow, timestamp } from '../core/clock.ts';
import { type After, transactInOrder } from '../outbox/entries.ts';
import { type RequestReference, withReference } from '../outbox/event.ts';
import { getConsistent } from '../table/client.ts';
import { updateWrite, type Write } from '../table/transactions.ts';
import { latestProfile, registeredSinceWrite } from '../users/users.ts';
import { type Consent, newConsent, readConsents, releaseWrites, validUntil } from './consents.ts';
import { requestKey, requestsOf } from './entities.ts';
import { completing } from './requests.ts';
import { granted, type RequestItem, type Results, releasedIn } from './stored-request.ts';

/** Why a user's answer is rejected: the request is unknown, or did not ask for these properties. */
export type RejectedAnswer = { unknown: true } | { notAsked: string[] };

/**
 * Records a user's answers to all or some properties of a request. Approved values are copied from the profile. The
 * first answer to a property is final. The last answer completes the request, and the account's plain webhook is
 * notified. 2 read units, and 1 for the account at the end; 2 write units for the request, 2 for a check, 4 for a
 * consent with its receipt, 4 if a webhook is notified. On indexes, 2 for the list of requests at the end.
 *
 * @returns undefined if the answers are recorded, now or before
 */
export const answerRequest = async (
  id: string,
  answers: Partial<Record<string, 'approved' | 'denied'>>,
): Promise<RejectedAnswer | undefined> => {
  for (;;) {
    const item = await getConsistent<RequestItem>(requestKey(id));
    if (item === undefined) return { unknown: true };
    const asked = item.properties.map(({ property }) => property);
    const notAsked = Object.keys(answers).filter((name) => !asked.some((property) => property === name));
    if (notAsked.length > 0) return { notAsked };
    const open = asked.filter((property) => answers[property] !== undefined && item.results[property] === undefined);
    if (open.length === 0) return undefined;

    const { profile, since = '' } = (await latestProfile(item.phone)) ?? {};
    // The user was removed; the erasure will remove the request, too.
    if (profile === undefined || since > item.created) return { unknown: true };
    const created = timestamp();
    const end = validUntil(item.valid_days);
    const approved = granted(
      profile,
      open.filter((property) => answers[property] === 'approved'),
      created,
      end,
    );
    const denied = open.filter((property) => answers[property] === 'denied');
    const results = {
      ...approved,
      ...Object.fromEntries(denied.map((property) => [property, { status: 'denied' } as const])),
    };
    const released = releasedIn(approved);
    const consented = released.length === 0 ? [] : releaseWrites(await consentOf(id, item), released, created, end);
    const writesAfter = await answering({ id, item, results, consented, created });
    const failed = await transactInOrder(writesAfter);
    if (failed.length === 0) return undefined;
    // The request was changed, or the user was removed, in the meantime: read again.
  }
};

interface Answering {
  id: string;
  item: RequestItem;
  results: Results;
  /** The writes that release values. */
  consented: Write[];
  created: string;
}

/** The consent of a request. 1 read unit, unless the request has released nothing yet. */
const consentOf = async (id: string, item: RequestItem): Promise<Consent> => {
  const hasReleased = Object.values(item.results).some(({ status }) => status !== 'denied' && status !== 'unavailable');
  const known = hasReleased
    ? (await readConsents(id)).consents.find(({ created }) => created === item.created)
    : undefined;
  return known ?? newConsent(id, item);
};

/** The writes that store these results, as a function for `transactInOrder`. */
const answering = async ({ id, item, results, consented, created }: Answering): Promise<(after: After) => Write[]> => {
  const { account, phone, version } = item;
  const reference: RequestReference = { id, account, phone, ...withReference(item) };
  const all = { ...item.results, ...results };
  const isComplete = item.properties.every(({ property }) => property in all);
  const platform = isComplete ? (await findAccount(account))?.platform : undefined;
  return (after) => [
    updateWrite({
      Key: requestKey(id),
      UpdateExpression: `SET results = :results, version = :next${isComplete ? ', completed = :now, gsi3pk = :completed' : ''}`,
      ConditionExpression: 'version = :version AND expires_at > :present',
      ExpressionAttributeValues: {
        ':results': all,
        ':version': version,
        ':next': version + 1,
        ':present': secondsFromNow(0),
        ...(isComplete && { ':now': created, ':completed': requestsOf(account, 'completed') }),
      },
    }),
    registeredSinceWrite(phone, item.created),
    ...consented,
    ...(isComplete ? completing(reference, platform, created, after) : []),
  ];
};
