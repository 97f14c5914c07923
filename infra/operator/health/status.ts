/** `operator status`: what is wrong now, and what waits, on one screen. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { now } from '../../../shared/core/clock.ts';
import { describeFailure, exitCodeOf } from '../failures.ts';
import { circuitTable } from '../messages/outbox.ts';
import { type Cell, columns, count, fields, minute, printResult, second, tinted } from '../output.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { examples } from '../usage.ts';
import { type Figures, type RaisedAlarm, type Read, readFigures, type Source, sourceOfFigures } from './figures.ts';

/** Milliseconds between two readings. */
const INTERVAL = 5_000;

export const addStatusCommand = (program: Command): void => {
  program
    .command('status')
    .description(
      'Shows what is wrong now, and what waits: alarms, the oldest pending message, open circuits, the lengths of the queues, failed and postponed batches, and dead letters. Of the local stack, or in AWS (--stack).',
    )
    .option('--watch', 'show it again every 5 seconds, until Ctrl-C; with --json, one document on each line')
    .addHelpText('after', examples('status', 'status --watch --stack business-api-production'))
    .action(async ({ watch }: { watch?: true }, command: Command) => {
      const source = await sourceOfFigures();
      if (watch) return watchFigures(source, command);
      const figures = await readFigures(source);
      return printResult(command, inJson(figures), inWords(figures));
    });
};

/** Shows the figures until Ctrl-C. Calls that fail for a moment are repeated. */
const watchFigures = async (source: Source, command: Command): Promise<void> => {
  const { json } = command.optsWithGlobals<{ json?: true }>();
  const ctrlC = new AbortController();
  const end = () => ctrlC.abort();
  process.once('SIGINT', end);
  try {
    for (let isFirst = true; !ctrlC.signal.aborted; isFirst = false) {
      const { document, words } = await readAgain(source);
      if (json) process.stdout.write(`${JSON.stringify(document)}\n`);
      else draw(`${second(new Date(now()).toISOString())}\n\n${words}`, isFirst);
      await pause(INTERVAL, undefined, { signal: ctrlC.signal }).catch(() => undefined);
    }
  } finally {
    process.off('SIGINT', end);
  }
};

/** @throws the error of a call whose repeat cannot succeed */
const readAgain = async (source: Source): Promise<{ document: object; words: string }> => {
  try {
    const figures = await readFigures(source);
    return { document: inJson(figures), words: inWords(figures) };
  } catch (error) {
    if (exitCodeOf(error) !== EXIT.temporary) throw error;
    return { document: { error: describeFailure(error) }, words: describeFailure(error) };
  }
};

/** On a terminal, writes over the previous text line by line, so that nothing flickers. Elsewhere, adds lines. */
const draw = (text: string, isFirst: boolean): void => {
  if (!process.stdout.isTTY) return void process.stdout.write(`${isFirst ? '' : '\n'}${text}\n`);
  const lines = text.split('\n').map((line) => `${line}\u001b[K\n`);
  process.stdout.write(`${isFirst ? '\u001b[2J' : ''}\u001b[H${lines.join('')}\u001b[J`);
};

const inJson = (figures: Figures) => {
  const { alarms, backlog, postponedBatches } = figures;
  return {
    time: new Date(now()).toISOString(),
    alarms: alarms === undefined ? null : plain(alarms),
    oldest_pending: backlog.oldest ?? null,
    pending_conversations: backlog.conversations,
    more_pending: backlog.more,
    open_circuits: backlog.circuits,
    wake_ups: plain(figures.wakeUps),
    expansions: plain(figures.expansions),
    failed_batches: plain(figures.failedBatches),
    dead_letters: plain(figures.deadLetters),
    postponed_batches: postponedBatches,
  };
};

const plain = <Value>(read: Read<Value>): Value | { lacks: string } => ('value' in read ? read.value : read);

const inWords = (figures: Figures): string => {
  const { alarms, backlog, postponedBatches } = figures;
  const raised = alarms !== undefined && 'value' in alarms ? alarms.value : [];
  const summary = fields({
    Alarms: alarms === undefined ? 'none on the local stack' : inCell(alarms, ({ length }) => alertIfAny(length)),
    'Oldest pending message': backlog.oldest === undefined ? 'none' : ageOf(backlog.oldest),
    'Pending conversations': `${count(backlog.conversations)}${backlog.more ? '+' : ''}`,
    'Open circuits': alertIfAny(backlog.circuits.length),
    'Queue of wake-ups': inCell(figures.wakeUps, count),
    'Queue of expansions': inCell(figures.expansions, count),
    'Failed batches': inCell(figures.failedBatches, alertIfAny),
    'Dead letters': inCell(figures.deadLetters, alertIfAny),
    'Postponed batches': alertIfAny(postponedBatches),
  });
  return [
    summary,
    ...(raised.length === 0 ? [] : [alarmTable(raised)]),
    ...(backlog.circuits.length === 0 ? [] : [circuitTable(backlog.circuits)]),
  ].join('\n\n');
};

const inCell = <Value>(read: Read<Value>, cell: (value: Value) => Cell): Cell =>
  'value' in read ? cell(read.value) : tinted('yellow', `not read: needs the right ${read.lacks}`);

const alertIfAny = (number: number): Cell => (number === 0 ? '0' : tinted('red', count(number)));

const alarmTable = (raised: RaisedAlarm[]): string =>
  columns(
    ['ALARM', 'SINCE', 'MEANING'],
    raised.map(({ name, since, meaning }) => [tinted('red', name), second(since), meaning]),
  );

/** `3 h 5 min, since 2027-01-31 12:00 UTC`. */
const ageOf = (since: string): string => {
  const minutes = Math.floor((now() - Date.parse(`${since}Z`)) / 60_000);
  const words = minutes < 60 ? `${minutes} min` : `${count(Math.floor(minutes / 60))} h ${minutes % 60} min`;
  return `${words}, since ${minute(since)}`;
};
