/** The live feed as the page follows it, and the views that are read anew by it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Part } from '../../views.ts';
import { read } from './api.ts';

export type Connection = 'connecting' | 'live' | 'lost';

/** How often each part has changed. */
export type Versions = Record<Part, number>;

/** How long to wait before the feed is opened again where the browser has given it up, in milliseconds. */
const AGAIN = 1_000;

const none: Versions = { phones: 0, requests: 0, platforms: 0, funnel: 0 };

const isPart = (name: string): name is Part => name in none;

/** Follows the feed. Each time that it is there again, everything counts as changed: nothing is missed. */
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
        if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN);
      };
      source.addEventListener('changed', ({ data }: MessageEvent<string>) => {
        if (isPart(data)) setVersions((before) => ({ ...before, [data]: before[data] + 1 }));
      });
    };
    open();
    // Whether the network is there says little of this machine itself: trying tells.
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

/** A view as it was read last; nothing, before it was. It is read anew at each version from the first. */
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
        // An older answer that comes later is of no use.
        if (turn < shown.current) return;
        shown.current = turn;
        setKnown({ path, view });
      },
      // The feed tells that the connection is lost, and reads everything when it is back.
      () => undefined,
    );
  }, [path, version]);
  return known?.path === path ? known.view : undefined;
};
