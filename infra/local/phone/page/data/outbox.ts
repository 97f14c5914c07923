/** What the user writes until the server shows it: nothing is lost while the network is down, nor when the page is loaded anew. */
import { useEffect, useState } from 'preact/hooks';
import type { WrittenItem } from '../../views.ts';
import { sayWhy, tell } from './api.ts';

export interface Draft {
  /** The event's id: the same at every try, so that the message is never there twice. */
  id: string;
  phone: string;
  to: string;
  text: string;
  time: string;
  /** Why it was not sent; nothing, while it is being sent. */
  problem: string | null;
}

const KEY = 'outbox';

/** What was being sent when the page was left may have arrived, or not: the user may send it again. */
const kept = (): Draft[] =>
  JSON.parse(sessionStorage.getItem(KEY) ?? '[]').map((draft: Draft) => ({
    ...draft,
    problem: draft.problem ?? 'Not sent.',
  }));

export const useOutbox = () => {
  const [drafts, setDrafts] = useState(kept);
  useEffect(() => sessionStorage.setItem(KEY, JSON.stringify(drafts)), [drafts]);

  const put = (draft: Draft) => setDrafts((all) => [...all.filter(({ id }) => id !== draft.id), draft]);

  const send = async (message: Omit<Draft, 'problem'>): Promise<void> => {
    put({ ...message, problem: null });
    const { id, phone, to, text } = message;
    try {
      await tell('POST', `/phones/${phone}/messages`, { to, text, event_id: id });
    } catch (error) {
      put({ ...message, problem: sayWhy(error) });
    }
  };

  /** Forgets what the server shows. */
  const settle = (shown: Set<string>) =>
    setDrafts((all) => (all.some(({ id }) => shown.has(id)) ? all.filter(({ id }) => !shown.has(id)) : all));

  return { drafts, send, settle };
};

export const newDraft = (phone: string, to: string, text: string): Omit<Draft, 'problem'> => ({
  id: crypto.randomUUID(),
  phone,
  to,
  text,
  time: new Date().toISOString(),
});

/** A draft as the conversation shows it. */
export const asWritten = ({ id, time, to, text, problem }: Draft): WrittenItem => ({
  kind: 'written',
  id,
  time,
  to,
  text,
  outcome: problem === null ? 'sending' : 'unanswered',
  detail: problem,
});
