/** The size of responses: Lambda's limit is 6 MB, for the JSON document that contains the body as a string. */

/** Most bytes of a body, by `sizeInResponse`. The rest of the 6 MB is ample for the headers. */
export const MAX_BODY_IN_RESPONSE = 5_000_000;

/**
 * Bytes of a value in a function's response. The body is JSON, within a string of the JSON that Lambda reads: there a
 * quotation mark of a text has four bytes, and a control character seven.
 */
export const sizeInResponse = (value: object): number => Buffer.byteLength(JSON.stringify(JSON.stringify(value)));
