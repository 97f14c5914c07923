/** The user's messages until the server lists them. They survive a lost connection, and a reload of the page. */
import { useEffect, useState } from 'preact/hooks';
import { present } from '../../../../web/clock.ts';
import type { WrittenItem } from '../../views.ts';
import { describeError, submit } from './api.ts';

export type DraftContent =
  | { image: { url: string; mime_type: string; size: number } }
  | { location: { latitude: number; longitude: number; name: string } };

export interface Draft {
  /** The event's id: the same at every attempt, so that the message is not duplicated. */
  id: string;
  phone: string;
  to: string;
  text: string;
  /** A picture or a place; the text is its caption. */
  content?: DraftContent | undefined;
  time: string;
  /** Why it was not sent; null while it is being sent. */
  problem: string | null;
}

const KEY = 'outbox';

/** The stored drafts. A draft that was being sent when the page closed may have arrived; the user can send it again. */
const storedDrafts = (): Draft[] =>
  JSON.parse(sessionStorage.getItem(KEY) ?? '[]').map((draft: Draft) => ({
    ...draft,
    problem: draft.problem ?? 'Not sent.',
  }));

export const useOutbox = () => {
  const [drafts, setDrafts] = useState(storedDrafts);
  useEffect(() => sessionStorage.setItem(KEY, JSON.stringify(drafts)), [drafts]);

  const put = (draft: Draft) => setDrafts((all) => [...all.filter(({ id }) => id !== draft.id), draft]);

  const send = async (message: Omit<Draft, 'problem'>): Promise<void> => {
    put({ ...message, problem: null });
    const { id, phone, to } = message;
    try {
      await submit('POST', `/phones/${phone}/messages`, { to, ...bodyOf(message), event_id: id });
    } catch (error) {
      put({ ...message, problem: describeError(error) });
    }
  };

  /** Removes the drafts that the server lists. */
  const settle = (shown: Set<string>) =>
    setDrafts((all) => (all.some(({ id }) => shown.has(id)) ? all.filter(({ id }) => !shown.has(id)) : all));

  return { drafts, send, settle };
};

/** A message in the simulator's words. */
const bodyOf = ({ text, content }: Pick<Draft, 'text' | 'content'>): object => {
  if (content === undefined) return { text };
  if (!('image' in content)) return content;
  return { image: { ...content.image, ...(text !== '' && { caption: text }) } };
};

export const newDraft = (phone: string, to: string, text: string, content?: DraftContent): Omit<Draft, 'problem'> => ({
  id: crypto.randomUUID(),
  phone,
  to,
  text,
  content,
  time: new Date(present()).toISOString(),
});

/** A draft as an item of the timeline. */
export const asWritten = ({ id, time, to, text, content, problem }: Draft): WrittenItem => ({
  kind: 'written',
  id,
  time,
  to,
  text,
  picture: content !== undefined && 'image' in content ? content.image.url : null,
  outcome: problem === null ? 'sending' : 'unanswered',
  detail: problem,
  delivered: false,
});
