/** The environment prevents the start. The message is one line, with the remedy. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
