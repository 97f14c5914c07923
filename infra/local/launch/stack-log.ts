/**
 * The log of a local stack. A file has all lines, and the terminal a summary: every few seconds in which requests or errors
 * occurred, their counts. Lines that are not JSON are shown at once: a developer's own, and reports of crashes.
 */
import { createWriteStream, type WriteStream } from 'node:fs';
import { fieldsIn, sourceOf } from '../../operator/tail/entry.ts';

/** Milliseconds between two summaries. */
const PERIOD_MS = 5_000;

/** The most errors that a summary names. */
const MOST_ERRORS = 3;

export class StackLog {
  readonly #say: (line: string) => void;
  readonly #timer = setInterval(() => this.#summarise(), PERIOD_MS).unref();
  /** Lines from before the file is open. */
  #early: string[] | undefined = [];
  #file: WriteStream | undefined;
  #statuses = new Map<string, number>();
  #errors = new Map<string, number>();

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Adds a line of a function or host, by the logical id of its resource. */
  add(source: string, line: string): void {
    const fields = fieldsIn({ text: line });
    if (fields?.host !== undefined) increment(this.#statuses, String(fields.status));
    else if (fields?.level === 'error') increment(this.#errors, `${sourceOf(source)}: ${fields.message}`);
    else if (fields?.type === 'platform.report')
      increment(this.#errors, `${sourceOf(source)}: ${endOf(fields.record)}`);
    else if (fields === undefined) this.#say(line);
    // Only CloudWatch needs the description of metrics.
    const { _aws, ...rest } = fields ?? {};
    this.#write(_aws === undefined ? line : JSON.stringify(rest));
  }

  /** Writes the lines into a file that only its owner can read, instead of that of an earlier stack. */
  open(path: string): void {
    const file = createWriteStream(path, { mode: 0o600 });
    file.on('error', ({ message }) => {
      this.#file = undefined;
      this.#say(`The log ends, because its file cannot be written: ${message}`);
    });
    this.#file = file;
    for (const line of this.#early ?? []) this.#write(line);
    this.#early = undefined;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#summarise();
    const file = this.#file;
    if (file !== undefined) await new Promise<void>((resolve) => file.end(resolve));
  }

  #write(line: string): void {
    if (this.#file === undefined) this.#early?.push(line);
    else this.#file.write(`${line}\n`);
  }

  #summarise(): void {
    if (this.#statuses.size === 0 && this.#errors.size === 0) return;
    const statuses = [...this.#statuses].sort().map(([status, count]) => `${count} × ${status}`);
    const parts = [
      ...(statuses.length > 0 ? [`requests: ${statuses.join(', ')}`] : []),
      ...[...this.#errors].slice(0, MOST_ERRORS).map(([error, count]) => `error: ${error} (${count} ×)`),
    ];
    const time = new Date().toTimeString().slice(0, 8);
    for (const part of parts) this.#say(`${time}  ${part}`);
    if (this.#errors.size > 0) this.#say(`${time}  More about errors: ${this.#file?.path ?? ''}`);
    this.#statuses = new Map();
    this.#errors = new Map();
  }
}

/** Why a function did not end by itself, for example `Runtime.ExitError`, or `timeout`. */
const endOf = (record: unknown): string => {
  const { errorType, status } = Object(record);
  return String(errorType ?? status);
};

const increment = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};
