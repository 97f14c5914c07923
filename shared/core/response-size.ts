/** How much fits into a response: Lambda passes on at most 6 MB, which are counted as it counts them. */

/** Bytes of a body as `sizeInResponse` counts them; what is left of the 6 MB holds the headers, with room to spare. */
export const MAX_BODY_IN_RESPONSE = 5_000_000;

/**
 * Bytes that a value takes in a function's response. The body is JSON, and a string within the JSON that Lambda reads: a
 * quotation mark within a text takes four bytes there, and a control character seven.
 */
export const sizeInResponse = (value: object): number => Buffer.byteLength(JSON.stringify(JSON.stringify(value)));
