/** How long the messages took that arrived last. */
import { useEffect, useState } from 'preact/hooks';
import { median, milliseconds, percentile } from '../../web/figures.ts';
import { Skeleton } from '../../web/parts.tsx';
import { instant } from '../../web/text.tsx';
import { type BodyFrom, call } from '../client.ts';
import { Failure } from '../shell/failure.tsx';
import { Section } from '../shell/page.tsx';
import { useCall } from '../use-call.ts';
import { home } from '../words/home.ts';
import { shell } from '../words/shell.ts';
import { EVERY, errorToShow } from './refresh.ts';

const words = home.times;

/** Messages that are measured: the log lists their ids, and each is read once. */
const MESSAGES = 20;

type Message = BodyFrom<'readMessage'>;

const steps = [
  { state: 'delivered_to_server', label: words.server },
  { state: 'delivered_to_user', label: words.user },
  { state: 'read', label: words.read },
] as const;

/** Milliseconds from sending to a state; none, if a message has not reached it. */
const durationsTo = (state: string, messages: Message[]): number[] =>
  messages.flatMap(({ states }) => {
    const timeOf = (wanted: string) => states.find((one) => one.state === wanted)?.created;
    const [start, end] = [timeOf('sent'), timeOf(state)];
    return start === undefined || end === undefined
      ? []
      : [Math.max(instant(end).getTime() - instant(start).getTime(), 0)];
  });

/** Reads messages one after the other, those that were not read before. One that is gone is left out. */
const useMessages = (ids: string[] | undefined): Message[] | undefined => {
  const [messages, setMessages] = useState<ReadonlyMap<string, Message>>();
  const key = ids?.join();
  useEffect(() => {
    if (ids === undefined) return;
    let isShown = true;
    const readAll = async () => {
      const found = new Map<string, Message>();
      for (const id of ids) {
        const message = messages?.get(id) ?? (await call('readMessage', { path: { id } }).catch(() => undefined))?.body;
        if (message !== undefined) found.set(id, message);
        if (!isShown) return;
      }
      setMessages(found);
    };
    void readAll();
    return () => {
      isShown = false;
    };
  }, [key]);
  return messages && [...messages.values()];
};

export const DeliveryTimes = () => {
  const query = { state: 'delivered_to_user', limit: String(MESSAGES) } as const;
  const log = useCall('listLogs', { query }, EVERY);
  const messages = useMessages(log.ready ? [...new Set(log.data?.map(({ id }) => id))] : undefined);
  return (
    <Section title={words.title}>
      <Failure error={errorToShow(log)} onRetry={log.reload} title={shell.notLoaded} />
      {messages === undefined ? (
        log.error === undefined && <Skeleton rows={3} />
      ) : messages.length === 0 ? (
        <p class="quiet">{words.none}</p>
      ) : (
        <>
          <dl class="times">
            {steps.map(({ state, label }) => (
              <Duration key={state} label={label} values={durationsTo(state, messages)} />
            ))}
          </dl>
          <p class="quiet">{words.about(messages.length)}</p>
        </>
      )}
    </Section>
  );
};

const Duration = ({ label, values }: { label: string; values: number[] }) => (
  <div>
    <dt>{label}</dt>
    {values.length === 0 ? (
      <dd class="quiet">{words.notYet}</dd>
    ) : (
      <dd>
        <span class="quiet">{words.half}</span> <strong>{milliseconds(median(values))}</strong>
        <span class="quiet">{words.most(milliseconds(percentile(values, 90)), values.length)}</span>
      </dd>
    )}
  </div>
);
