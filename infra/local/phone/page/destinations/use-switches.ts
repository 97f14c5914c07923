/** The switches of destinations, and a function that sets one. */
import { useEffect, useState } from 'preact/hooks';
import { useToast } from '../../../../web/toast.tsx';
import type { DestinationView, Mode, Server } from '../../destinations/views.ts';
import { describeError, submit } from '../data/api.ts';
import { useView } from '../data/live.ts';

export interface Switches {
  /** Undefined until they are read. */
  destinations: DestinationView[] | undefined;
  /** Changes what is given. */
  set: (server: Server, change: { mode?: Mode; share?: number; phone?: string | null }) => void;
  /** Retries the pending messages of a destination now. */
  retry: (server: Server) => void;
}

/** Milliseconds between two looks while something waits: an attempt that succeeds removes it. */
const LOOK_MS = 2_000;

export const useSwitches = (version: number): Switches => {
  const [looks, setLooks] = useState(0);
  const toast = useToast();
  const destinations = useView<DestinationView[]>('/view/destinations', version && version + looks);
  const waits = destinations?.some(({ pending, others }) => pending + others > 0) ?? false;
  useEffect(() => {
    if (!waits) return;
    const timer = setInterval(() => setLooks((before) => before + 1), LOOK_MS);
    return () => clearInterval(timer);
  }, [waits]);
  const send = (work: Promise<void>) =>
    void work.then(
      () => setLooks((before) => before + 1),
      (error: unknown) => toast(describeError(error), 'bad'),
    );
  return {
    destinations,
    set: (server, change) => send(submit('PATCH', `/destinations/${server}`, change)),
    retry: (server) => send(submit('POST', `/destinations/${server}/retry`)),
  };
};
