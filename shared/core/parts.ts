/** Limits of a part: DynamoDB, SQS and Lambda limit each call by its number of items and by its bytes. */
interface Limits<Item> {
  items: number;
  /** Most bytes of a part. An item that is larger has a part of its own. */
  bytes: number;
  sizeOf: (item: Item) => number;
}

/** Divides items into parts that keep within both limits, in the same order. */
export const partsOf = <Item>(all: Item[], { items, bytes, sizeOf }: Limits<Item>): Item[][] => {
  const parts: Item[][] = [];
  let used = 0;
  for (const item of all) {
    const size = sizeOf(item);
    const last = parts.at(-1);
    if (last === undefined || last.length === items || used + size > bytes) {
      parts.push([item]);
      used = size;
    } else {
      last.push(item);
      used += size;
    }
  }
  return parts;
};

/** Bytes of a value as JSON, in which binary data counts by its length. An item of the table is not larger. */
export const sizeInJson = (value: object): number => {
  let binary = 0;
  const json = JSON.stringify(value, function (this: Record<string, unknown>, name, each: unknown) {
    // The value before `toJSON`, which makes a list of numbers of a buffer.
    const own = this[name];
    if (!(own instanceof Uint8Array)) return each;
    binary += own.length;
    return '';
  });
  return Buffer.byteLength(json) + binary;
};
