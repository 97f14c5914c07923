/** The app network's ids of users. An id belongs to one number at a time. */
import { timestamp } from '../core/clock.ts';
import { getConsistent } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { deleteWrite, putWrite, type Write } from '../table/transactions.ts';
import { appUserKey } from './entities.ts';

/** The number that an id belongs to. */
interface AppUserItem extends Key {
  phone: string;
  created: string;
}

/** The number of the user with this id, by a consistent read. 1 read unit. */
export const numberOfId = async (id: string): Promise<string | undefined> =>
  (await getConsistent<AppUserItem>(appUserKey(id)))?.phone;

/** Gives an id to a number, in a transaction that fails if the id belongs to a number that is not in `from`. */
export const giveIdWrite = (id: string, phone: string, from: string[]): Write => {
  const item: AppUserItem = { ...appUserKey(id), phone, created: timestamp() };
  const owners = Object.fromEntries([phone, ...from].map((owner, index) => [`:owner${index}`, owner]));
  return putWrite(item, {
    ConditionExpression: `attribute_not_exists(pk) OR phone IN (${Object.keys(owners).join(', ')})`,
    ExpressionAttributeValues: owners,
  });
};

/** The writes that take an id from a number; none, if the id belongs to another number by now. 1 read unit. */
export const releaseIdWrites = async (id: string, phone: string): Promise<Write[]> => {
  if ((await numberOfId(id)) !== phone) return [];
  const isTheirs = { ConditionExpression: 'phone = :phone', ExpressionAttributeValues: { ':phone': phone } };
  return [deleteWrite(appUserKey(id), isTheirs)];
};
