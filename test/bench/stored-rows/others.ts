/** Rows of other accounts and users: as many as wanted, of all kinds that a table has. */
import type { Key } from '../../../shared/table/keys.ts';

/** A row of any kind. */
export interface Row extends Key {
  gsi1pk?: string;
  [attribute: string]: unknown;
}

/** Ids, also in positions of logs, and hashes. The end of each is replaced: the beginning of an id is its time. */
const ID =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,}|(?<="gsi\dsk":"(?:[\w-]+#)?[0-9a-z]{10})[0-9a-z]{25}(?=[a-h]")/g;
const PHONE = /(?:4477|27)\d{9,10}|999\d{12}/g;
const ACCOUNT = /(?<=["#])(?:demo(?:-[a-z]+)?|test-[\da-f-]+)(?=["#])/g;

/** Digits of an id or a number that differ between the copies. */
const REPLACED = 6;

const ended = (text: string, end: string): string => text.slice(0, -REPLACED) + end.padStart(REPLACED, '0');

/** A row like this one of another account, about another user. */
const copyOf = (row: Row, index: number): Row =>
  JSON.parse(
    JSON.stringify(row)
      .replace(ID, (id) => ended(id, index.toString(16)))
      .replace(PHONE, (phone) => ended(phone, String((Number(phone.slice(-REPLACED)) + index) % 10 ** REPLACED)))
      .replace(ACCOUNT, (account) => `${account}-${index}`),
  );

/** Pending work is not stored: workers do it. Rows without account, id and number exist once in a table. */
const isStored = (row: Row): boolean =>
  !row.pk.startsWith('OUTBOX#') && !row.gsi1pk?.startsWith('DUE#') && copyOf(row, 1).pk !== row.pk;

const keyOf = ({ pk, sk }: Key): string => `${pk} ${sk}`;

/** So many copies of rows, all with different keys. */
export function* othersLike(rows: Row[], count: number): Generator<Row> {
  // Rows whose copies have the same key would be one row.
  const stored = [...new Map(rows.filter(isStored).map((row) => [keyOf(copyOf(row, 1)), row])).values()];
  for (let index = 0; index < count; index += 1) {
    const row = stored[index % stored.length];
    if (row === undefined) throw new Error('There are no rows to copy.');
    yield copyOf(row, Math.floor(index / stored.length) + 1);
  }
}
