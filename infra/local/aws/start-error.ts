/** The environment prevents the start. The message says what helps, in one line if possible. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
