/** Reports automatically that messages were delivered and read, as the app does. */
import { useEffect, useRef } from 'preact/hooks';
import type { PhoneSummary } from '../../views.ts';
import { submit } from './api.ts';

interface Reporting {
  phones: PhoneSummary[];
  /** The phone whose conversation is visible, if any. */
  reading: string | undefined;
  on: boolean;
}

export const report = (message: string, state: string): Promise<void> =>
  submit('POST', `/messages/${message}/states`, { state });

/** Reports the states that are not reported yet. */
export const useReports = ({ phones, reading, on }: Reporting): void => {
  const inProgress = useRef(new Set<string>());
  useEffect(() => {
    if (!on) return;
    for (const { phone, undelivered, unread } of phones) {
      const read = phone === reading ? unread : [];
      for (const message of new Set([...undelivered, ...read])) {
        const states = [
          ...(undelivered.includes(message) ? ['delivered_to_user'] : []),
          ...(read.includes(message) ? ['read'] : []),
        ];
        const name = `${message} ${states.at(-1)}`;
        if (inProgress.current.has(name)) continue;
        inProgress.current.add(name);
        // A report that fails is repeated at the next change.
        void inOrder(message, states).finally(() => inProgress.current.delete(name));
      }
    }
  }, [phones, reading, on]);
};

const inOrder = async (message: string, states: string[]): Promise<void> => {
  try {
    for (const state of states) await report(message, state);
  } catch {
    return;
  }
};
