/** The days that a command is about: its options, and what they mean together. */
import { type Command, Option } from 'commander';
import { now, sortableTime } from '../../shared/core/clock.ts';
import { calendarDay, wholeNumber } from '../../shared/validation/schemas.ts';
import { day } from './output.ts';
import { readBy } from './usage.ts';

const DAY = 86_400_000;

/** Days without any option. */
const USUAL = 7;

/** Days at most where a command names each. */
export const MAX_DAYS = 366;

/** What the options say. */
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
    new Option('--days <n>', `number of days up to the last one, instead of --from (default: ${USUAL})`)
      .argParser(readBy(wholeNumber(1, MAX_DAYS)))
      .conflicts('from'),
  );

/** The first and the last day, both included (UTC, `YYYY-MM-DD`). Ends the command where there is none between them. */
export const periodIn = (
  command: Command,
  { from, to = day(sortableTime(now())), days = USUAL }: Given,
): { from: string; to: string } => {
  const first = from ?? dayAfter(to, 1 - days);
  if (first > to) command.error('error: the first day is after the last one');
  return { from: first, to };
};

/** Every day of a period. */
export const daysOf = ({ from, to }: { from: string; to: string }): string[] =>
  Array.from({ length: 1 + Math.round((Date.parse(to) - Date.parse(from)) / DAY) }, (_, place) =>
    dayAfter(from, place),
  );

const dayAfter = (start: string, days: number): string => day(sortableTime(Date.parse(start) + days * DAY));
