/**
 * Words that the project no longer uses, with the standard words that replace them. `infra/docs/glossary.md` explains
 * the standard words. A word is in this table only if its pattern has no false positives.
 */
import type { Finding } from './guides.ts';

interface RetiredWord {
  retired: RegExp;
  use: string;
}

/** A row of the table: a pattern for the retired words, which matches whole words, and the standard word. */
const retire = (words: string, use: string, flags = 'gi'): RetiredWord => ({
  retired: new RegExp(`(?<![\\w-])(?:${words.replaceAll(' ', '\\s+')})(?![\\w-])`, flags),
  use,
});

/** A row for identifiers, whose case matters. */
const rename = (names: string, use: string): RetiredWord => retire(names, use, 'g');

/** Retired in all sources: code, comments, log messages, tests and guides. */
const EVERYWHERE = [
  retire('holds? against', 'check against'),
  rename('put_off', 'retry_scheduled'),
  rename('given_up', 'permanently_failed'),
  rename('asked_to_wait', 'rate_limited'),
  rename('wait_ms', 'long_poll_ms'),
  rename('GivenUp', 'PermanentFailures'),
  rename('wasTold', 'wasReported'),
  rename('noteFailure', 'recordFailure'),
  rename('noteSuccess', 'recordSuccess'),
  rename('putNew', 'putIfAbsent'),
  rename('puttingNew', 'putIfAbsentWrite'),
  rename('Telling', 'StatusReceipt'),
  rename('Handing', 'DeliveryContext'),
  rename('NoAnswer', 'DeliveryError'),
  rename('tryTwice', 'attemptWithRetry'),
  rename('isBehind', 'needsRefresh'),
  // SQS calls the side at fault 'Receiver'.
  rename("Receivers?(?!')", 'Destination'),
  rename('Posting', 'OutboundRequest'),
  rename('Passage', 'CircuitState'),
  rename('peek', 'getEventual'),
  rename('findLatest', 'getConsistent'),
  rename('enqueueing', 'enqueueWrites'),
  rename('dequeueing', 'dequeueWrite'),
  rename('granting', 'consentReceiptWrite'),
  rename('noting', 'receiptWrite'),
  rename('goOn', 'resume'),
  rename('putOff', 'scheduleRetry'),
];

/** Retired in texts for people as well: help and output of commands, API description, problem details, guides. */
const IN_TEXTS = [
  retire('(?:datafree|media) address(?:es)?', 'URL'),
  retire('nobody learns', 'the API does not reveal'),
  retire('(?:is|are|was|were|be|been|being) told', 'notified'),
  retire('put off', 'retry scheduled'),
  retire('gives? up|gave up|given up', 'permanently failed'),
  retire('left alone|leaves? alone', 'the circuit is open'),
  retire('passed over', 'skipped'),
  retire('what waits|something waits|nothing waits|waits to go out', 'pending messages'),
  retire('asked to wait', 'rate limited'),
  retire('goes on behind', 'is paginated'),
  retire('for good', 'permanently'),
  retire('receivers?', 'destination'),
  retire('stands? (?:in|there)', 'is in, contains'),
  retire('leads? to nothing', 'expired'),
];

/** Retired in the service itself: only tests and the local stack have faults, which they inject. */
const IN_SERVICE = [retire('(?:max_|most|to)?faults?', 'validation errors')];

/** Retired in guides only: elsewhere these words have other uses. */
const IN_GUIDES = [
  retire('refus(?:e|es|ed|ing|als?)', 'reject'),
  retire('mend(?:s|ed|ing)?', 'fix'),
  retire('anew', 'again'),
  retire('if you like', 'optional'),
  retire('heard|hears', 'received'),
  retire('faults?(?! injection)', 'validation errors, failure modes'),
  retire('strangers?', 'untrusted callers'),
];

const find = (words: readonly RetiredWord[], text: string): Finding[] =>
  words.flatMap(({ retired, use }) =>
    [...text.matchAll(retired)].map(({ 0: word, index }) => {
      const before = text.slice(0, index).split('\n');
      const message = `"${word.replaceAll(/\s+/g, ' ')}" is retired: ${use}`;
      return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message };
    }),
  );

export const findRetiredInSource = (text: string): Finding[] => find(EVERYWHERE, text);

export const findRetiredInService = (text: string): Finding[] => find(IN_SERVICE, text);

export const findRetiredInTexts = (text: string): Finding[] => find([...EVERYWHERE, ...IN_TEXTS], text);

export const findRetiredInGuide = (text: string): Finding[] => find([...EVERYWHERE, ...IN_TEXTS, ...IN_GUIDES], text);
