/** The page's end of the live feed, and the views that are read again when they have changed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Part } from '../../views.ts';
import { read } from './api.ts';

export type Connection = 'connecting' | 'live' | 'lost';

/** How often each view has changed. */
export type Versions = Record<Part, number>;

/** Delay in milliseconds before the page opens the feed again that the browser has closed. */
const REOPEN_DELAY_MS = 1_000;

const none: Versions = { phones: 0, requests: 0, platforms: 0, funnel: 0 };

const isPart = (name: string): name is Part => name in none;

/** Follows the feed. After each connection, all views count as changed, so that no change is missed. */
export const useLive = (): { connection: Connection; versions: Versions } => {
  const [connection, setConnection] = useState<Connection>('connecting');
  const [versions, setVersions] = useState(none);

  useEffect(() => {
    let source: EventSource;
    let timer: number | undefined;
    const open = () => {
      clearTimeout(timer);
      source?.close();
      source = new EventSource('/live');
      source.onopen = () => {
        setConnection('live');
        setVersions(({ phones, requests, platforms, funnel }) => ({
          phones: phones + 1,
          requests: requests + 1,
          platforms: platforms + 1,
          funnel: funnel + 1,
        }));
      };
      source.onerror = () => {
        setConnection('lost');
        if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, REOPEN_DELAY_MS);
      };
      source.addEventListener('changed', ({ data }: MessageEvent<string>) => {
        if (isPart(data)) setVersions((before) => ({ ...before, [data]: before[data] + 1 }));
      });
    };
    open();
    // The network's state does not show whether this machine can be reached, so reconnect on either change.
    addEventListener('online', open);
    addEventListener('offline', open);
    return () => {
      removeEventListener('online', open);
      removeEventListener('offline', open);
      clearTimeout(timer);
      source.close();
    };
  }, []);

  return { connection, versions };
};

/** The last response of a view; undefined before the first one. Each version from 1 on reads the view again. */
export const useView = <View>(path: string, version: number): View | undefined => {
  const [known, setKnown] = useState<{ path: string; view: View }>();
  const asked = useRef(0);
  const shown = useRef(0);
  useEffect(() => {
    if (version === 0) return;
    asked.current += 1;
    const turn = asked.current;
    read<View>(path).then(
      (view) => {
        // Ignore a response that a newer one has overtaken.
        if (turn < shown.current) return;
        shown.current = turn;
        setKnown({ path, view });
      },
      // If the connection is lost, the feed reports it, and all views are read again after it is back.
      () => undefined,
    );
  }, [path, version]);
  return known?.path === path ? known.view : undefined;
};
