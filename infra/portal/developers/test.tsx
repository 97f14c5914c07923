/** Trying the service: a message to a number of one's own, and a message as a user would write it. */
import { useEffect, useState } from 'preact/hooks';
import { Icon, type IconName } from '../../web/icons.tsx';
import { Copy, Empty, Notice } from '../../web/parts.tsx';
import { spacedNumber, Time } from '../../web/text.tsx';
import { call } from '../client.ts';
import { phoneIn } from '../phone-numbers.ts';
import type { Session } from '../session.ts';
import { Code } from '../shell/code.tsx';
import { Failure } from '../shell/failure.tsx';
import { Section, TextArea, TextField } from '../shell/page.tsx';
import { useAction, useCall, useIntention } from '../use-call.ts';
import { developers as texts } from '../words/developers.ts';
import { isLocal } from './local.ts';
import { SIMULATED, writeToBot } from './snippets.ts';

const words = texts.test;

/** Milliseconds between looks at the states, and how many looks are made. */
const LOOK_MS = 1_000;
const MOST_LOOKS = 60;

export const TestMessage = ({ session }: { session: Session }) => {
  const [number, setNumber] = useState(isLocal ? SIMULATED : '');
  const [text, setText] = useState<string>(words.sample);
  const [tried, setTried] = useState(false);
  const [sent, setSent] = useState<{ id: string; to: string }>();
  const to = phoneIn(number);
  // A test after one that was sent is another one, also if it is the same.
  const newKey = useIntention(JSON.stringify([sent?.id, to, text]));
  const hasText = text.trim() !== '';
  const send = useAction(async (to: string) => {
    const { body } = await call('sendMessage', {
      body: { to, type: 'text', text: { body: text } },
      idempotencyKey: newKey(),
    });
    if ('id' in body) setSent({ id: body.id, to });
  });
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (to !== undefined && hasText) send.run(to);
  };
  return (
    <>
      <Section title={words.title}>
        <div class="stack">
          <Notice tone={isLocal ? 'plain' : 'warn'}>{isLocal ? words.local : words.deployed}</Notice>
          <div class="try">
            <form class="form" noValidate onSubmit={submit}>
              <TextField
                label={words.number}
                hint={words.numberHint}
                error={tried && to === undefined ? words.numberInvalid : undefined}
                type="tel"
                autocomplete="off"
                value={number}
                onValue={setNumber}
              />
              <TextArea
                label={words.text}
                error={tried && !hasText ? words.textMissing : undefined}
                rows={3}
                maxLength={4_096}
                value={text}
                onValue={setText}
              />
              <Failure error={send.error} />
              <div class="buttons">
                <button type="submit" class="primary" disabled={send.busy}>
                  <Icon name="send" />
                  {send.busy ? words.working : words.submit}
                </button>
              </div>
            </form>
            <div class="test-outcome">
              <h3>{words.states}</h3>
              {sent ? (
                <States key={sent.id} id={sent.id} to={sent.to} />
              ) : (
                <Empty icon="activity">
                  <p>{words.none}</p>
                </Empty>
              )}
            </div>
          </div>
        </div>
      </Section>
      {session.info.permissions.includes('bridge') && session.may('readConfiguration') && <WriteToBot />}
    </>
  );
};

/** The last states that a message can have. */
const LAST = ['read', 'sending_failed', 'delivery_failed'];

const icons: Record<string, IconName> = { read: 'eye', sending_failed: 'cross', delivery_failed: 'cross' };

/** The states of a message, as they arrive. */
const States = ({ id, to }: { id: string; to: string }) => {
  const [looks, setLooks] = useState(0);
  const [hasEnded, setHasEnded] = useState(false);
  const isLooking = !hasEnded && looks < MOST_LOOKS;
  const { data, loading, error, reload } = useCall('readMessage', { path: { id } }, isLooking && LOOK_MS);
  useEffect(() => {
    if (loading) return;
    setLooks((before) => before + 1);
    setHasEnded(data?.states.some(({ state }) => LAST.includes(state)) ?? false);
  }, [loading]);
  return (
    <>
      <p class="line">
        <span>{words.to(spacedNumber(to))}</span>
        <Copy text={id} label={words.copyId} />
      </p>
      <Failure error={error} onRetry={reload} />
      <ol class="states" aria-live="polite">
        {data?.states.map(({ state, created, reason }) => (
          <li key={state} class={reason ? 'bad' : ''}>
            <Icon name={icons[state] ?? 'check'} />
            <span>
              {words.stateWords[state] ?? state}
              {reason && <span class="problem"> {words.reasons[reason] ?? reason}</span>}
            </span>
            <Time at={created} as="exact" />
          </li>
        ))}
      </ol>
      {data?.waits_until !== undefined && (
        <p>
          {words.waitsUntil} <Time at={data.waits_until} as="when" />
        </p>
      )}
      {!hasEnded && (
        <p class="quiet" role="status">
          {isLooking ? words.waiting : words.still}
        </p>
      )}
      {!hasEnded && !isLooking && (
        <button type="button" onClick={() => setLooks(0)}>
          {words.again}
        </button>
      )}
    </>
  );
};

/** A command, because the page calls only its own host, and this is an endpoint of the other one. */
const WriteToBot = () => {
  const { data } = useCall('readConfiguration', {});
  if (data === undefined) return null;
  const { bot_number: bot } = data.configuration;
  return (
    <Section title={words.reply.title}>
      {bot === null ? (
        <p>{words.reply.noBot}</p>
      ) : (
        <div class="stack">
          <p>{words.reply.text(spacedNumber(bot))}</p>
          <Code label={words.reply.command} text={writeToBot(bot)} />
          <p class="quiet">{words.reply.from}</p>
        </div>
      )}
    </Section>
  );
};
