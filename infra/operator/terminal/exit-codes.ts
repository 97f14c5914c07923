/** Exit codes of the operator's command. The help and the guide for operators list them. */
export const EXIT = {
  /** The command failed, or completed only in part. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /** Nobody confirmed the change: the answer was no, or there is neither a terminal nor `--yes`. */
  unconfirmed: 3,
  /** AWS or the database did not answer, or throttled the calls. A repeat may succeed. */
  temporary: 4,
  /** Ctrl-C: 128 and the number of the signal, as shells report it. */
  interrupted: 130,
  /** SIGTERM, in the same way. */
  terminated: 143,
} as const;

/** The exit codes in words, for the help. */
export const EXIT_CODES = `Exit codes:
  0    success
  ${EXIT.failed}    the command failed, or completed only in part
  ${EXIT.usage}    the command line is invalid
  ${EXIT.unconfirmed}    not confirmed: the answer was no, or there is no terminal to ask on, and no --yes
  ${EXIT.temporary}    AWS or the database did not answer, or throttled the calls: a repeat may succeed
  ${EXIT.interrupted}  interrupted by Ctrl-C; ${EXIT.terminated} by SIGTERM`;

/** The end of a command by a signal. The message says what was done. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly exitCode: number;

  constructor(message: string, signal: 'SIGINT' | 'SIGTERM' = 'SIGINT') {
    super(message);
    this.exitCode = signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
  }
}
