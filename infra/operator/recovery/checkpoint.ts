/**
 * How far a restore has come: a file on this machine, so that a killed command continues when it is repeated. If the file is
 * lost, the restore begins again, which changes nothing that it has restored.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { localFolder } from '../local-stack/stack-file.ts';

const progress = v.object({
  /** For each segment of the scan, where it continues; `done` at its end, `null` at its beginning. */
  segments: v.array(v.union([v.null(), v.literal('done'), v.record(v.string(), v.unknown())])),
  /** Numbers of items so far, by kind and result. */
  counts: v.record(v.string(), v.record(v.string(), v.number())),
});

export type Progress = v.InferOutput<typeof progress>;

export class Checkpoint {
  readonly path: string;
  /** Whether an earlier command has left it. */
  readonly isContinued: boolean;
  readonly progress: Progress;

  /** @param subject - what distinguishes this restore from others: tables and options */
  constructor(subject: unknown[], segments: number) {
    const name = createHash('sha256').update(JSON.stringify(subject)).digest('hex').slice(0, 12);
    this.path = join(process.env.LOCAL_FOLDER ?? localFolder, `restore-${name}.json`);
    const found = this.#read(segments);
    this.isContinued = found !== undefined;
    this.progress = found ?? { segments: Array.from({ length: segments }, () => null), counts: {} };
  }

  /** Adds to the count of a kind of items with a result. */
  add(kind: string, result: string): void {
    const counts = this.progress.counts[kind] ?? {};
    this.progress.counts[kind] = counts;
    counts[result] = (counts[result] ?? 0) + 1;
  }

  /** Writes the file. Only its owner may read it, because keys contain phone numbers. */
  save(): void {
    mkdirSync(dirname(this.path), { recursive: true });
    const draft = `${this.path}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(this.progress), { mode: 0o600 });
    renameSync(draft, this.path);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }

  #read(segments: number): Progress | undefined {
    try {
      const { success, output } = v.safeParse(progress, JSON.parse(readFileSync(this.path, 'utf8')));
      return success && output.segments.length === segments ? output : undefined;
    } catch {
      return undefined;
    }
  }
}
