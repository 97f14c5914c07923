/** Log lines for people: one line each, with the same parts in the same order. */
import { type EventName, events } from '../../../shared/telemetry/metrics.ts';
import { type Cell, shown, tinted } from '../output.ts';
import { clockTime } from '../terminal/times.ts';
import { type Entry, type Fields, fieldsIn, member, platformReport } from './entry.ts';

/** Widths of the columns for the level, and for the source: most names fit. */
const WIDTHS = { level: 5, source: 14 };

const LEVEL_COLOURS = { error: 'red', warn: 'yellow' } as const;

/** Members that the line shows in columns, or that repeat them. The description of metrics is only for CloudWatch. */
const SHOWN = ['level', 'message', 'time', 'route', 'status', 'request_ms', 'ms', 'account', 'code', 'host', '_aws'];

/** A line as text, with colours on a terminal: time, level, source, what happened, account, error code, and the rest. */
export const lineFor = (entry: Entry, now: number): string => {
  const fields = fieldsIn(entry);
  const report = fields && platformReport(fields);
  const [level, what] = report
    ? (['error', reported(report.record)] as const)
    : fields
      ? ([member(fields, 'level'), happened(fields)] as const)
      : ([undefined, [entry.text.trimEnd()]] as const);
  const cells: Cell[] = [
    tinted('dim', clockTime(entry.time, now)),
    levelCell(String(level ?? '').padEnd(WIDTHS.level)),
    tinted('cyan', entry.source.padEnd(WIDTHS.source)),
    ...what,
  ];
  return cells.map(shown).join('  ').trimEnd();
};

/** The original line if it is a JSON object, else one with the line as `text`: each on one line, for programs. */
export const jsonFor = (entry: Entry): string => {
  const fields = fieldsIn(entry);
  if (fields === undefined) return JSON.stringify({ text: entry.text.trimEnd() });
  const text = entry.text.trim();
  return /[\r\n]/.test(text) ? JSON.stringify(fields) : text;
};

const levelCell = (level: string): Cell => {
  const colour = Object.entries(LEVEL_COLOURS).find(([name]) => name === level.trim())?.[1];
  return colour === undefined ? level : tinted(colour, level);
};

/** A call that the function did not end itself. */
const reported = (record: Fields): Cell[] => {
  const { status, ...rest } = record;
  return [tinted('red', `call ended with ${status}`), ...restCells(rest)];
};

const happened = (fields: Fields): Cell[] => {
  const [message, route, status] = ['message', 'route', 'status'].map((name) => member(fields, name));
  const ms = member(fields, 'request_ms') ?? member(fields, 'ms');
  const isRequest = status !== undefined && (message === undefined || message === 'request');
  const cells = [
    ...(isRequest ? [String(route ?? '(no route)'), statusCell(String(status))] : [message, route, status]),
    ms === undefined ? undefined : `${ms} ms`,
    member(fields, 'account'),
    member(fields, 'code'),
  ];
  const hidden = [...SHOWN, ...(isRequest ? ['outcome'] : []), ...countsOf(message)];
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => !hidden.includes(name)));
  return [...cells.flatMap((cell): Cell[] => (cell === undefined ? [] : [asCell(cell)])), ...restCells(rest)];
};

const asCell = (cell: Cell | number): Cell => (typeof cell === 'number' ? String(cell) : cell);

const statusCell = (status: string): Cell =>
  tinted(status >= '500' ? 'red' : status >= '400' ? 'yellow' : 'green', status);

const isEvent = (message: unknown): message is EventName => typeof message === 'string' && message in events;

/** The members of an event's line that only count it. */
const countsOf = (message: unknown): string[] => {
  if (!isEvent(message) || message === 'backlog') return [];
  return Object.entries(events[message].metrics).flatMap(([name, unit]) => (unit === 'Count' ? [name] : []));
};

/** The other members, as `name=value`. The stack of an error is the last. */
const restCells = (fields: Fields): Cell[] =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== '-')
    .sort(([one], [other]) => Number(one === 'at') - Number(other === 'at'))
    .map(([name, value]) => tinted('dim', `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`));
