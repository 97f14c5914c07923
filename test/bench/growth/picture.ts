/** Draws figures of the simulation as SVG, in the colours of the documentation. */
import { colours, framed, textAt } from '../picture.ts';
import { behind, type Cell, CUSTOMERS, firstCeiling, RATES, SECONDS } from './scenarios.ts';

interface Look {
  fill: string;
  text: string;
}

/** Seconds that a message needs for all its steps, in steps of the simulation. */
const IN_STEP = 40;

const looks: { upTo: number; look: Look }[] = [
  { upTo: IN_STEP, look: { fill: 'var(--user-soft, #e0f4ea)', text: 'var(--user, #0a6e52)' } },
  { upTo: 900, look: { fill: 'var(--business-soft, #eef0fd)', text: 'var(--on-business-soft, #3a46c2)' } },
];
const LATE: Look = { fill: 'var(--surface, #ffffff)', text: 'var(--bad, #b3241a)' };

const duration = (seconds: number | undefined): string => {
  if (seconds === undefined) return '> 1 day';
  if (seconds <= IN_STEP) return 'in step';
  if (seconds < 100) return `${Math.round(seconds)} s`;
  return seconds < 6_000 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
};

const count = (value: number): string => value.toLocaleString('en-US');

const CELL = { width: 61, height: 30 };
const PANEL = { width: 362, height: 172 };

/** Names of limits that fit into a cell. */
const SHORT: Record<string, string> = {
  'requests of an account': 'account',
  'requests of the API host': 'API host',
  'requests of the bridge host': 'bridge host',
  'requests of API Gateway': 'gateway',
  'executions of Lambda': 'Lambda',
  'workers of deliver': 'workers',
  'a counter': 'counter',
  'workers of count': 'counting',
  'counters of an account': 'counters',
  'reads of an account': 'account',
  'circuit of the app network': 'circuit',
  'log of an account': 'log',
  'log of a job': 'log',
  'due work': 'due work',
  'reads of the table': 'reads',
  'reads of a partition': 'reads',
};

const shortName = (name: string): string => SHORT[name] ?? (/gsi/.test(name) ? 'index' : 'table');

const panelOf = (title: string, cells: Cell[], left: number, top: number): string[] => [
  textAt(left, top + 14, title, 'font-size="13" font-weight="600"'),
  textAt(left, top + 34, 'customers', `fill="${colours.quiet}" font-size="10"`),
  ...RATES.map((rate, column) =>
    textAt(
      left + 48 + (column + 0.5) * CELL.width,
      top + 34,
      `${count(rate)}/s`,
      `text-anchor="middle" fill="${colours.quiet}"`,
    ),
  ),
  ...CUSTOMERS.flatMap((customers, row) => {
    const y = top + 40 + row * CELL.height;
    return [
      textAt(left + 40, y + 19, count(customers), `text-anchor="end" fill="${colours.quiet}"`),
      ...RATES.flatMap((rate, column) => {
        const cell = cells.find((one) => one.customers === customers && one.sent === rate);
        if (cell === undefined) return [];
        const late = behind(cell);
        const { fill, text } = looks.find(({ upTo }) => (late ?? Number.POSITIVE_INFINITY) <= upTo)?.look ?? LATE;
        const x = left + 48 + column * CELL.width;
        const middle = x + CELL.width / 2;
        const first = firstCeiling(cell);
        return [
          `<rect x="${x + 1}" y="${y + 1}" width="${CELL.width - 2}" height="${CELL.height - 2}" rx="4" fill="${fill}" stroke="${colours.line}"/>`,
          textAt(
            middle,
            y + (first ? 13 : 19),
            duration(late),
            `text-anchor="middle" fill="${text}" font-weight="600"`,
          ),
          ...(first
            ? [textAt(middle, y + 25, shortName(first.name), `text-anchor="middle" font-size="10" fill="${text}"`)]
            : []),
        ];
      }),
    ];
  }),
];

const LEGEND = [
  'So many customers send messages at this rate for ten minutes.',
  'In a cell: how long after that all are delivered and counted,',
  'and the first limit that was met for a minute or more.',
  'account: its limit of requests, or reads of its item',
  'log: the key of its log in an index',
  'reads, table, index: a partition, or all of them',
  'workers: executions of deliver',
];

/** A grid for each variant: rates and customers, how long the last message takes, and the first limit. */
export const drawCeilings = (cells: Cell[]): string => {
  const titles = [...new Set(cells.map(({ variant }) => variant))];
  const height = 20 + Math.ceil((titles.length + 1) / 2) * PANEL.height;
  const legend = {
    left: 12 + (titles.length % 2) * PANEL.width,
    top: 14 + Math.floor(titles.length / 2) * PANEL.height,
  };
  return framed(
    738,
    height,
    'For each rate and number of customers: how long the last message is behind, and the first limit',
    [
      ...titles.map((title, place) =>
        panelOf(
          title,
          cells.filter(({ variant }) => variant === title),
          12 + (place % 2) * PANEL.width,
          14 + Math.floor(place / 2) * PANEL.height,
        ).join(''),
      ),
      ...LEGEND.map((line, place) =>
        textAt(legend.left, legend.top + 34 + place * 17, line, `fill="${colours.quiet}"`),
      ),
    ],
  );
};

const PLOT = { left: 62, top: 40, width: 460, height: 190 };
const LINES = ['var(--text, #14171c)', 'var(--business, #4350d0)', 'var(--user, #0a6e52)', 'var(--bad, #b3241a)'];
const DASHES = ['', '6 3', '2 3', '9 3 2 3'];

/** A simulated load: messages per second, and the seconds for which they are sent. */
interface Sending extends Pick<Cell, 'variant' | 'samples' | 'sent'> {
  seconds?: number;
}

/** Messages that wait, by time, for several variants. */
export const drawBacklog = (title: string, cells: Sending[]): string => {
  const lines = cells.map(({ samples, sent, seconds = SECONDS }) =>
    samples.map(({ at, delivered }) => ({ at, waiting: Math.max(sent * Math.min(at, seconds) - delivered, 0) })),
  );
  const max = { at: 0, waiting: 0 };
  for (const { at, waiting } of lines.flat()) {
    max.at = Math.max(max.at, at);
    max.waiting = Math.max(max.waiting, waiting);
  }
  const x = (at: number): number => PLOT.left + (at / max.at) * PLOT.width;
  const y = (waiting: number): number => PLOT.top + PLOT.height * (1 - waiting / max.waiting);
  const rounded = (value: number): string => value.toFixed(1);
  const minutes = Math.max(Math.ceil(max.at / 60 / 6 / 5) * 5, 1);
  return framed(738, 272, title, [
    textAt(16, 24, title, 'font-size="13" font-weight="600"'),
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((part) => [
      `<path d="M${PLOT.left} ${rounded(y(part * max.waiting))}h${PLOT.width}" stroke="${colours.line}"/>`,
      textAt(
        PLOT.left - 6,
        Math.round(y(part * max.waiting)) + 4,
        count(Math.round((part * max.waiting) / 1_000)) + (part > 0 ? 'k' : ''),
        `text-anchor="end" fill="${colours.quiet}"`,
      ),
    ]),
    ...Array.from({ length: Math.floor(max.at / 60 / minutes) + 1 }, (_, place) =>
      textAt(
        Math.round(x(place * minutes * 60)),
        PLOT.top + PLOT.height + 16,
        `${place * minutes} min`,
        `text-anchor="middle" fill="${colours.quiet}"`,
      ),
    ),
    ...lines.flatMap((line, place) => [
      `<path d="M${rounded(x(0))} ${rounded(y(0))}${line
        .filter((_, index) => index % 3 === 2 || index === line.length - 1)
        .map(({ at, waiting }) => `L${rounded(x(at))} ${rounded(y(waiting))}`)
        .join('')}" fill="none" stroke="${LINES[place]}" stroke-width="2" stroke-dasharray="${DASHES[place]}"/>`,
      `<path d="M${PLOT.left + PLOT.width + 16} ${PLOT.top + 12 + place * 24}h28" stroke="${LINES[place]}" stroke-width="2" stroke-dasharray="${DASHES[place]}"/>`,
      textAt(PLOT.left + PLOT.width + 50, PLOT.top + 16 + place * 24, cells[place]?.variant ?? ''),
    ]),
  ]);
};
