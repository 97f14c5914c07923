/** Reports automatically that messages were delivered and read, as the app does. */
import { useEffect, useRef } from 'preact/hooks';
import type { PhoneSummary } from '../../views.ts';
import { submit } from './api.ts';

interface Reporting {
  phones: PhoneSummary[];
  /** The ids of the messages that the user sees. */
  seen: ReadonlySet<string>;
  on: boolean;
}

export const report = (message: string, state: string): Promise<void> =>
  submit('POST', `/messages/${message}/states`, { state, event_id: crypto.randomUUID() });

/** Reports the states that are not reported yet. */
export const useReports = ({ phones, seen, on }: Reporting): void => {
  const inProgress = useRef(new Set<string>());
  useEffect(() => {
    if (!on) return;
    for (const { undelivered, unread } of phones) {
      const read = unread.filter((message) => seen.has(message));
      for (const message of new Set([...undelivered, ...read])) {
        const states = [
          ...(undelivered.includes(message) ? ['delivered_to_user'] : []),
          ...(read.includes(message) ? ['read'] : []),
        ];
        const name = `${message} ${states.at(-1)}`;
        if (inProgress.current.has(name)) continue;
        inProgress.current.add(name);
        // A report that fails is repeated at the next change; one that succeeds is not, until the server lists it.
        void inOrder(message, states).then((done) => {
          if (!done) inProgress.current.delete(name);
        });
      }
    }
  }, [phones, [...seen].join(), on]);
};

/** Returns whether all states were reported. */
const inOrder = async (message: string, states: string[]): Promise<boolean> => {
  try {
    for (const state of states) await report(message, state);
    return true;
  } catch {
    return false;
  }
};
