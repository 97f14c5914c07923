/** The report of a campaign as a table for people: a row for each message, made from the log, which has one for each state. */
import { campaigns } from '../words/campaigns.ts';
import { explainReason, stepLabel } from '../words/outcomes.ts';

const words = campaigns.report;

/** An entry of the log: `GET /v1/jobs/{job_id}/log.ndjson`. */
interface Entry {
  id: string;
  contact: string;
  state: string;
  created: string;
  reason?: string;
}

/** States in the order of a message's life: the last one that it reached is the result. */
const LIFE = ['sent', 'delivered_to_server', 'delivered_to_user', 'read', 'sending_failed', 'delivery_failed'] as const;

/**
 * @param log - JSON objects on lines, each an entry
 * @param zone - of the times; by default that of the reader
 * @returns CSV, with a mark by which Excel knows UTF-8
 */
export const reportOf = (log: string, zone = Intl.DateTimeFormat().resolvedOptions().timeZone): string => {
  const entries = log.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as Entry]));
  const header = [
    words.number,
    words.result,
    words.cause,
    ...words.times.map((title) => `${title} (${zone})`),
    words.id,
  ];
  const format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: zone });
  const rows = [...Map.groupBy(entries, ({ id }) => id)].map(([id, states]) => {
    const at = (state: string): string => {
      const entry = states.find((one) => one.state === state);
      return entry === undefined ? '' : format.format(new Date(entry.created));
    };
    const last = LIFE.findLast((state) => states.some((one) => one.state === state)) ?? '';
    const failed = states.find(({ state }) => state === last && state.endsWith('failed'));
    return [
      states[0]?.contact.split('@')[0] ?? '',
      stepLabel(last),
      failed === undefined ? '' : explainReason(failed.state, failed.reason).cause,
      ...LIFE.slice(0, 4).map(at),
      id,
    ];
  });
  return `\ufeff${[header, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('')}`;
};

const cellOf = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
