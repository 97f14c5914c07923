/** Reports automatically that messages were read, as the app does. The simulated network reports that they are delivered. */
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

/** Reports that the messages which the user sees are read, unless it is reported already. */
export const useReports = ({ phones, seen, on }: Reporting): void => {
  const reported = useRef(new Set<string>());
  useEffect(() => {
    if (!on) return;
    for (const message of phones.flatMap(({ unread }) => unread)) {
      if (!seen.has(message) || reported.current.has(message)) continue;
      reported.current.add(message);
      // A report that fails is repeated at the next change; one that succeeds is not, until the server lists it.
      void report(message, 'read').catch(() => reported.current.delete(message));
    }
  }, [phones, [...seen].join(), on]);
};
