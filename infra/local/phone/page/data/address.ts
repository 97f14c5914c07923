/** The state of the page in its URL, which a reload and the browser's Back keep. */
import { useCallback, useLayoutEffect, useState } from 'preact/hooks';
import type { Filters } from '../../traces/views.ts';

const screens = ['chat', 'chats', 'consents', 'profile'] as const;
const tabs = ['phone', 'activity', 'stack'] as const;
const views = ['traces', 'calls'] as const;
const kinds = ['all', 'messages', 'consent', 'profilers', 'pending', 'failed'] as const;

export interface Address extends Filters {
  /** The number of the user whose phone is open; empty for the demo user. */
  user: string;
  /** What the phone shows. */
  screen: (typeof screens)[number];
  /** The number of the business of the open chat; empty for that of the last message. */
  chat: string;
  /** The open part of a small page; the phone if it is empty. */
  tab: (typeof tabs)[number] | '';
  /** What Activity lists. */
  view: (typeof views)[number];
  /** The open trace or call; empty without one. */
  trace: string;
  /** Whether the editor of a message as a business is open. */
  write: boolean;
}

const among = <const Names extends readonly string[]>(names: Names, given: string): Names[number] | undefined =>
  names.find((name) => name === given);

/** The state in the search part of a URL. */
const addressIn = (search: string): Address => {
  const query = new URLSearchParams(search);
  const given = (name: string) => query.get(name) ?? '';
  const digits = (name: string) => given(name).replaceAll(/\D/g, '');
  return {
    user: digits('user'),
    screen: among(screens, given('screen')) ?? 'chat',
    chat: digits('chat'),
    tab: among(tabs, given('tab')) ?? '',
    view: among(views, given('view')) ?? 'traces',
    trace: given('trace'),
    kind: among(kinds, given('kind')) ?? 'all',
    business: given('business'),
    of: digits('of'),
    route: given('route'),
    status: given('status'),
    q: given('q'),
    write: query.has('write'),
  };
};

/** The search part of a URL for a state: defaults are left out. */
const searchOf = ({ write, ...texts }: Address): string => {
  const defaults = addressIn('');
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(texts)) {
    if (value !== Object.entries(defaults).find(([known]) => known === name)?.[1]) query.set(name, value);
  }
  if (write) query.set('write', '');
  return query.size === 0 ? '' : `?${query}`;
};

/** The states of filters, which are no steps for the Back button. */
const PASSING: (keyof Address)[] = ['kind', 'business', 'of', 'route', 'status', 'q', 'view'];

export type Go = (changes: Partial<Address>) => void;

/** The page's state, and a function that changes it. Each change but those of filters is a step for the Back button. */
export const useAddress = (): [Address, Go] => {
  const [address, setAddress] = useState(() => addressIn(location.search));
  // Before the address can change: other effects wait for a frame.
  useLayoutEffect(() => {
    const follow = () => setAddress(addressIn(location.search));
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);
  const go = useCallback<Go>((changes) => {
    const next = { ...addressIn(location.search), ...changes };
    const search = searchOf(next);
    const url = search || location.pathname;
    if (Object.keys(changes).every((name) => PASSING.some((one) => one === name))) history.replaceState(null, '', url);
    else if (search !== location.search) history.pushState(null, '', url);
    setAddress(next);
  }, []);
  return [address, go];
};
