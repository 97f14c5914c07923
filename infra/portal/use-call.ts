/** What the API returns, as states of a view. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { EndpointName } from '../../shared/api/index.ts';
import { type BodyFrom, call, callNext, type RequestTo } from './client.ts';

/**
 * Does something after some milliseconds; if the page is not visible then, as soon as it is.
 *
 * @returns what ends the wait
 */
export const later = (ms: number, act: () => void): (() => void) => {
  let isDue = false;
  const look = (): void => {
    if (!isDue || document.visibilityState !== 'visible') return;
    end();
    act();
  };
  const timer = setTimeout(() => {
    isDue = true;
    look();
  }, ms);
  document.addEventListener('visibilitychange', look);
  const end = (): void => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
  };
  return end;
};

export interface Loaded<Body> {
  /** What was returned last. It stays while it is read again, and if that fails. */
  data: Body | undefined;
  /** Whether it was returned once: an empty list is returned without a body. */
  ready: boolean;
  error: unknown;
  loading: boolean;
  reload: () => void;
}

interface Reading<Body> {
  /** The request: what is of another one is not shown. */
  key: string;
  body?: Body;
  next?: string | undefined;
  ready?: true;
  /** Whether a further page was asked for. */
  further?: true;
  error?: unknown;
  loading: boolean;
}

/** Reads something, again when the request changes; while no further page was asked for, also every so many milliseconds. */
const useReading = <Name extends EndpointName>(
  name: Name,
  request: RequestTo<Name> | undefined,
  every: number | false | undefined,
) => {
  const [state, setState] = useState<Reading<BodyFrom<Name>>>();
  const [round, setRound] = useState(0);
  const key = request === undefined ? '' : JSON.stringify([name, request]);
  const latest = useRef(request);
  latest.current = request;
  useEffect(() => {
    if (key === '') return;
    const ending = new AbortController();
    setState((before) => (before?.key === key ? { ...before, loading: true } : { key, loading: true }));
    call(name, { ...(latest.current as RequestTo<Name>), signal: ending.signal }).then(
      ({ body, next }) => !ending.signal.aborted && setState({ key, body, next, ready: true, loading: false }),
      (error: unknown) => !ending.signal.aborted && setState((before) => ({ ...before, key, error, loading: false })),
    );
    return () => ending.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const waits = state !== undefined && !state.loading && state.further === undefined;
  useEffect(() => {
    // A request that takes longer than the interval must not be ended by the next one.
    if (!every || !waits) return;
    return later(every, reload);
  }, [every, waits, reload]);
  const shown = state?.key === key ? state : undefined;
  return { key, shown, loading: key !== '' && (shown?.loading ?? true), setState, reload };
};

/**
 * Reads something, again when the request changes, and every so many milliseconds while the page is visible. With `undefined`
 * as request, nothing is read.
 */
export const useCall = <Name extends EndpointName>(
  name: Name,
  request: RequestTo<Name> | undefined,
  every?: number | false,
): Loaded<BodyFrom<Name>> => {
  const { shown, loading, reload } = useReading(name, request, every);
  return { data: shown?.body, ready: shown?.ready ?? false, error: shown?.error, loading, reload };
};

type ListEndpoint = {
  [Name in EndpointName]: NonNullable<BodyFrom<Name>> extends readonly unknown[] ? Name : never;
}[EndpointName];

type ItemOf<Name extends EndpointName> = NonNullable<BodyFrom<Name>> extends readonly (infer Item)[] ? Item : never;

export interface Pages<Item> extends Omit<Loaded<Item[]>, 'data' | 'ready'> {
  /** The items of all pages that were read; `undefined` while the first one is read. */
  items: Item[] | undefined;
  /** Reads the next page; `undefined` if there is none. */
  more: (() => void) | undefined;
}

/**
 * Reads a list, one page after the other. With `undefined` as request, nothing is read.
 *
 * @param every - after how many milliseconds the first page is read again, while the browser shows it and no other one was read
 */
export const usePages = <Name extends ListEndpoint>(
  name: Name,
  request: RequestTo<Name> | undefined,
  every?: number,
): Pages<ItemOf<Name>> => {
  const { key, shown, loading, setState, reload } = useReading(name, request, every);
  const itemsIn = (body: BodyFrom<Name> | undefined) => (body ?? []) as ItemOf<Name>[];
  const next = shown?.next;
  const more = (): void => {
    if (next === undefined) return;
    setState((before) => before && { ...before, further: true, loading: true });
    const isShown = (before: typeof shown): before is NonNullable<typeof shown> =>
      before?.key === key && before.next === next;
    callNext(name, next).then(
      ({ body, next: following }) =>
        setState((before) =>
          isShown(before)
            ? {
                ...{ key, ready: true, further: true, loading: false, next: following },
                body: [...itemsIn(before.body), ...itemsIn(body)] as BodyFrom<Name>,
              }
            : before,
        ),
      (error: unknown) => setState((before) => (isShown(before) ? { ...before, error, loading: false } : before)),
    );
  };
  return {
    items: shown?.ready && itemsIn(shown.body),
    error: shown?.error,
    loading,
    more: next === undefined ? undefined : more,
    reload,
  };
};

/**
 * A change that a button or a form makes: runs at most once at a time, and keeps its error until the next run.
 *
 * @returns what runs it, whether it runs, and its error
 */
export const useAction = <Given extends unknown[]>(
  act: (...given: Given) => Promise<void>,
): { run: (...given: Given) => void; busy: boolean; error: unknown; forget: () => void } => {
  const [{ busy, error }, setState] = useState<{ busy: boolean; error?: unknown }>({ busy: false });
  const running = useRef(false);
  const run = (...given: Given): void => {
    if (running.current) return;
    running.current = true;
    setState({ busy: true });
    act(...given)
      .then(
        () => setState({ busy: false }),
        (failure: unknown) => setState({ busy: false, error: failure }),
      )
      .finally(() => {
        running.current = false;
      });
  };
  return { run, busy, error, forget: () => setState({ busy: false }) };
};

/**
 * The idempotency key of an intention: the same one as long as what is sent is the same, so that a repeat of the request does
 * nothing twice.
 *
 * @param sent - what is sent, as a text
 */
export const useIntention = (sent: string): (() => string) => {
  const last = useRef({ sent: '', key: '' });
  return () => {
    if (last.current.key === '' || last.current.sent !== sent) last.current = { sent, key: crypto.randomUUID() };
    return last.current.key;
  };
};
