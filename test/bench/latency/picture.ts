/** Draws the latency of a message as SVG: what it waits for, in order. */
import { medians } from '../../../infra/local/aws/latency.ts';
import { colours, framed, textAt } from '../picture.ts';

/** The medians of a measurement, in milliseconds. */
export interface Way {
  title: string;
  /** Whether the wake-up is sent by `relay` alone. */
  isRelayed: boolean;
  /** Of the local stack without delays: what the service and its calls take. */
  own: number;
  /** Of the local stack with the delays of AWS: all. */
  all: number;
}

const ROW = { left: 180, top: 48, height: 26, distance: 42 };
const FULL = { width: 430, ms: 300 };

/** What a message waits for, with the source of its median. */
const parts = {
  stream: { fill: 'var(--business-soft, #eef0fd)', left: 16, words: "Lambda's poll of the stream (published)" },
  queue: { fill: 'var(--user-soft, #e0f4ea)', left: 274, words: 'FIFO queue (published)' },
  service: { fill: 'var(--surface, #ffffff)', left: 440, words: 'service and its calls (measured here)' },
};

const boxAt = (x: number, y: number, width: number, height: number, fill: string): string =>
  `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${height}" rx="3" fill="${fill}" stroke="${colours.line}"/>`;

const rowOf = ({ title, isRelayed, own, all }: Way, place: number): string[] => {
  const top = ROW.top + place * ROW.distance;
  const waits = [
    ...(isRelayed ? [{ ms: medians.stream, fill: parts.stream.fill }] : []),
    { ms: medians.queue, fill: parts.queue.fill },
    { ms: own, fill: parts.service.fill },
  ];
  let x = ROW.left;
  const boxes = waits.flatMap(({ ms, fill }) => {
    const width = (ms / FULL.ms) * FULL.width;
    const left = x;
    x += width;
    return [
      boxAt(left, top, width, ROW.height, fill),
      textAt(Math.round(left + width / 2), top + 17, `${Math.round(ms)}`, 'text-anchor="middle" font-size="10"'),
    ];
  });
  return [
    textAt(16, top + 17, title, 'font-weight="600"'),
    ...boxes,
    textAt(Math.round(x) + 10, top + 17, `in all, measured: ${Math.round(all)}`, `fill="${colours.quiet}"`),
  ];
};

const TITLE = 'From the acceptance of a message to its delivery: medians in milliseconds';

/** A bar for each way of a message, with a part for each wait. */
export const drawBudget = (ways: Way[]): string => {
  const bottom = ROW.top + ways.length * ROW.distance;
  return framed(738, bottom + 32, TITLE, [
    textAt(16, 28, TITLE, 'font-size="13" font-weight="600"'),
    ...ways.flatMap(rowOf),
    ...Object.values(parts).flatMap(({ fill, left, words }) => [
      boxAt(left, bottom + 6, 12, 12, fill),
      textAt(left + 18, bottom + 16, words, `fill="${colours.quiet}"`),
    ]),
  ]);
};
