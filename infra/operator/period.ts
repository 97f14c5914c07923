/** The period of a command: the options `--from`, `--to` and `--days`. */
import { type Command, Option } from 'commander';
import { now, sortableTime } from '../../shared/core/clock.ts';
import { calendarDay, wholeNumber } from '../../shared/validation/schemas.ts';
import { day } from './output.ts';
import { readBy } from './usage.ts';

const DAY = 86_400_000;

/** Days of the default period. */
export const DEFAULT_DAYS = 7;

/** Maximum number of days, for commands that print each day. */
export const MAX_DAYS = 366;

/** Values of the options. */
export interface Given {
  from?: string;
  to?: string;
  days?: number;
}

/** Adds the options for the first and the last day. */
export const addPeriodOptions = (command: Command): Command =>
  command
    .option('--from <day>', 'the first day, YYYY-MM-DD (default: six days before the last)', readBy(calendarDay))
    .option('--to <day>', 'the last day, YYYY-MM-DD (default: today)', readBy(calendarDay));

/** Adds the option for a number of days. */
export const addDaysOption = (command: Command): Command =>
  command.addOption(
    new Option('--days <n>', `number of days up to the last one, instead of --from (default: ${DEFAULT_DAYS})`)
      .argParser(readBy(wholeNumber(1, MAX_DAYS)))
      .conflicts('from'),
  );

/** The first and the last day, both included (UTC, `YYYY-MM-DD`). If the first is after the last, the command fails. */
export const periodIn = (
  command: Command,
  { from, to = day(sortableTime(now())), days = DEFAULT_DAYS }: Given,
): { from: string; to: string } => {
  const first = from ?? dayAfter(to, 1 - days);
  if (first > to) command.error('error: the first day is after the last one');
  return { from: first, to };
};

/** Every day of a period. */
export const daysOf = ({ from, to }: { from: string; to: string }): string[] =>
  Array.from({ length: 1 + Math.round((Date.parse(to) - Date.parse(from)) / DAY) }, (_, index) =>
    dayAfter(from, index),
  );

const dayAfter = (start: string, days: number): string => day(sortableTime(Date.parse(start) + days * DAY));
