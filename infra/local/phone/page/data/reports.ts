/** What the app reports of messages by itself: that they came, and that they were read. */
import { useEffect, useRef } from 'preact/hooks';
import type { PhoneSummary } from '../../views.ts';
import { tell } from './api.ts';

interface Reporting {
  phones: PhoneSummary[];
  /** Whose conversation is being looked at, if one is. */
  reading: string | undefined;
  on: boolean;
}

export const report = (message: string, state: string): Promise<void> =>
  tell('POST', `/messages/${message}/states`, { state });

/** Reports what has not been reported. */
export const useReports = ({ phones, reading, on }: Reporting): void => {
  const underWay = useRef(new Set<string>());
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
        if (underWay.current.has(name)) continue;
        underWay.current.add(name);
        // What fails is reported at the next change.
        void inOrder(message, states).finally(() => underWay.current.delete(name));
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
