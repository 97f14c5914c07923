/** Items as DynamoDB's protocol has them: attribute values in JSON, with bytes in base64. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall, type marshallOptions, unmarshall } from '@aws-sdk/util-dynamodb';

export type Item = Record<string, AttributeValue>;

/** A plain object as an item of the protocol. */
export const itemOf = (plain: object, options?: marshallOptions): Item => {
  const item = marshall(plain, options) as Item;
  for (const value of Object.values(item)) encodeBytes(value);
  return item;
};

/** An item of the protocol as a plain object. */
export const plainOf = (item: object): object => unmarshall(item as Item);

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** Replaces the bytes in an attribute value, which `JSON.stringify` would write as an object. */
const encodeBytes = (value: AttributeValue): void => {
  if (value.B !== undefined) Object.assign(value, { B: base64(value.B) });
  else if (value.BS !== undefined) Object.assign(value, { BS: value.BS.map(base64) });
  else if (value.L !== undefined) value.L.forEach(encodeBytes);
  else if (value.M !== undefined) Object.values(value.M).forEach(encodeBytes);
};

/** Replaces the bytes in a response, at any depth. Only attribute values have a member `B` that is a text. */
export const decodeBytes = <Response extends object>(response: Response): Response => {
  for (const value of Object.values(response)) {
    if (typeof value !== 'object' || value === null) continue;
    if (typeof value.B === 'string') value.B = bytesOf(value.B);
    else if (Array.isArray(value.BS) && typeof value.BS[0] === 'string') value.BS = value.BS.map(bytesOf);
    else decodeBytes(value);
  }
  return response;
};

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));
