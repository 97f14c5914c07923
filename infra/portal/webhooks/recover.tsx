/** The dialog that sends all events again that have failed for good. */
import { useState } from 'preact/hooks';
import { present } from '../../web/clock.ts';
import { Dialog } from '../../web/parts.tsx';
import { useToast } from '../../web/toast.tsx';
import { call } from '../client.ts';
import { Failure } from '../shell/failure.tsx';
import { Select, TextField } from '../shell/page.tsx';
import { fromLocal, toLocal } from '../times.ts';
import { useAction } from '../use-call.ts';
import { shell } from '../words/shell.ts';
import { webhooks as texts } from '../words/webhooks.ts';
import type { Webhook } from './deliveries.tsx';

const words = texts.recover;
const DAY_MS = 86_400_000;

interface RecoverProps {
  webhooks: Webhook[];
  /** The webhook that is chosen at first; all without it. */
  webhook: string | undefined;
  onClose: () => void;
  onDone: () => void;
}

export const Recover = ({ webhooks, webhook, onClose, onDone }: RecoverProps) => {
  const [draft, setDraft] = useState({ since: toLocal(present() - DAY_MS), until: '', webhook: webhook ?? '' });
  const [count, setCount] = useState(0);
  const toast = useToast();
  const set = (change: Partial<typeof draft>) => setDraft((before) => ({ ...before, ...change }));
  const since = fromLocal(draft.since);
  const until = fromLocal(draft.until);
  const recover = useAction(async () => {
    if (since === undefined) return;
    const body = { since, ...(until && { until }), ...(draft.webhook && { webhook_id: draft.webhook }) };
    const sum = { queued: 0, pending: 0 };
    let cursor: string | undefined;
    do {
      // What is sent again before a call fails is not sent another time: a repeat adds nothing.
      const reply = await call('recoverDeliveries', { body, query: { cursor } });
      sum.queued += reply.body.queued;
      sum.pending += reply.body.pending;
      setCount(sum.queued);
      cursor = reply.next && (new URL(reply.next, location.origin).searchParams.get('cursor') ?? undefined);
    } while (cursor !== undefined);
    toast(words.done(sum.queued, sum.pending));
    onClose();
    onDone();
  });
  return (
    <Dialog
      title={words.title}
      close={shell.cancel}
      onClose={onClose}
      actions={
        <button
          type="button"
          class="primary"
          disabled={recover.busy || since === undefined}
          onClick={() => recover.run()}
        >
          {recover.busy ? words.running(count) : words.run}
        </button>
      }
    >
      <p>{words.text}</p>
      <TextField
        label={words.since}
        error={since === undefined ? words.missing : undefined}
        type="datetime-local"
        value={draft.since}
        onValue={(value) => set({ since: value })}
      />
      <TextField
        label={words.until}
        hint={words.untilHint}
        type="datetime-local"
        value={draft.until}
        onValue={(value) => set({ until: value })}
      />
      {webhooks.length > 1 && (
        <Select label={texts.deliveries.webhook} value={draft.webhook} onValue={(value) => set({ webhook: value })}>
          <option value="">{texts.deliveries.allWebhooks}</option>
          {webhooks.map(({ id, url }) => (
            <option key={id} value={id}>
              {url}
            </option>
          ))}
        </Select>
      )}
      <Failure error={recover.error} />
    </Dialog>
  );
};
