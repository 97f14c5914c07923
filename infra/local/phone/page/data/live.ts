/** The page's end of the live feed, and the views that are read again when they have changed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Part } from '../../views.ts';
import { isResponseError, read } from './api.ts';
import { withUnchanged } from './unchanged.ts';

export interface Connection {
  state: 'connecting' | 'live' | 'lost';
  /** Seconds until the next attempt to connect; 0 if one is under way. */
  retryIn: number;
}

/** How often each view has changed. */
export type Versions = Record<Part, number>;

/** Seconds before the page connects again. */
const RETRY_S = 3;

/** Least milliseconds between two reads of a view: while a campaign runs, views change all the time. */
const PAUSE_MS = 100;

const none: Versions = { phones: 0, traces: 0, funnel: 0, destinations: 0, clock: 0 };

const parts = Object.keys(none) as Part[];

/**
 * Follows the feed, and connects again every three seconds while it is lost. After each connection, all views count as
 * changed, so that no change is missed.
 */
export const useLive = (): { connection: Connection; versions: Versions } => {
  const [connection, setConnection] = useState<Connection>({ state: 'connecting', retryIn: 0 });
  const [versions, setVersions] = useState(none);

  useEffect(() => {
    let source: EventSource | undefined;
    let timer: number | undefined;
    const changed = (some: readonly Part[]) =>
      setVersions((before) => ({ ...before, ...Object.fromEntries(some.map((part) => [part, before[part] + 1])) }));
    const wait = (seconds: number) => {
      setConnection({ state: 'lost', retryIn: seconds });
      timer = setTimeout(() => (seconds > 1 ? wait(seconds - 1) : open()), 1_000);
    };
    const open = () => {
      clearTimeout(timer);
      source?.close();
      const opened = new EventSource('/live');
      source = opened;
      opened.onopen = () => {
        setConnection({ state: 'live', retryIn: 0 });
        changed(parts);
      };
      opened.onerror = () => {
        // The page counts the seconds itself, so the browser must not connect on its own.
        opened.close();
        if (source === opened) wait(RETRY_S);
      };
      opened.addEventListener('changed', ({ data }: MessageEvent<string>) =>
        changed(parts.filter((part) => part === data)),
      );
    };
    open();
    // The network's state does not show whether this machine can be reached, so reconnect on either change.
    addEventListener('online', open);
    addEventListener('offline', open);
    return () => {
      removeEventListener('online', open);
      removeEventListener('offline', open);
      clearTimeout(timer);
      source?.close();
    };
  }, []);

  return { connection, versions };
};

/**
 * The last response of a view; undefined before the first one. What has not changed since the response before keeps its
 * identity, so an effect that depends on it does not run at each read.
 */
export const useView = <View>(path: string, version: number): View | undefined =>
  useViewOrProblem<View>(path, version).view;

/** A view, or the sentence of an error response. */
interface Known<View> {
  path: string;
  view?: View;
  problem?: string;
}

/**
 * The last response of a view as `useView` has it, or why there is none. Each version from 1 on reads the view again, one at a
 * time. Version 0 reads nothing.
 */
export const useViewOrProblem = <View>(path: string, version: number): { view?: View; problem?: string } => {
  const [known, setKnown] = useState<Known<View>>();
  const reading = useRef({ path, busy: false, again: false });
  useEffect(() => {
    if (version === 0) return;
    if (reading.current.path !== path) reading.current = { path, busy: false, again: false };
    const mine = reading.current;
    const load = async () => {
      mine.busy = true;
      mine.again = false;
      const result = await read<View>(path).then(
        (view) => ({ path, view }),
        // If the connection is lost, the feed reports it, and all views are read again after it is back.
        (error: unknown) => (isResponseError(error) ? { path, problem: error.message } : undefined),
      );
      if (reading.current === mine && result) setKnown((before) => withUnchanged(before, result));
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      mine.busy = false;
      if (reading.current === mine && mine.again) await load();
    };
    if (mine.busy) mine.again = true;
    else void load();
  }, [path, version]);
  return known?.path === path ? known : {};
};
