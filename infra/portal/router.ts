/** Addresses of views: `#/messages/12?state=failed`. */
import { useLayoutEffect, useState } from 'preact/hooks';

export interface Route {
  /** The view's name: `messages`. */
  view: string;
  /** The rest of the path: `['12']`. */
  rest: string[];
  query: Record<string, string>;
}

/** What the address shows. */
export const routeNow = (): Route => {
  const [path = '', search = ''] = location.hash.slice(1).split('?');
  const [view = '', ...rest] = path.split('/').filter(Boolean).map(decoded);
  return { view, rest, query: Object.fromEntries(new URLSearchParams(search)) };
};

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

type Query = Record<string, string | undefined>;

/** The link to a view: `linkTo('messages', '12')` is `#/messages/12`. Parameters without a value are left out. */
export const linkTo = (view: string, ...rest: (string | Query)[]): string => {
  const parts = rest.filter((part) => typeof part === 'string');
  const query = Object.assign({}, ...rest.filter((part) => typeof part !== 'string')) as Query;
  const search = new URLSearchParams(
    Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1])),
  ).toString();
  return `#/${[view, ...parts].map(encodeURIComponent).join('/')}${search && `?${search}`}`;
};

/** Opens an address that `linkTo` has made. With `replace`, Back does not return to the present one. */
export const go = (link: string, { replace = false } = {}): void => {
  if (!replace) {
    location.hash = link;
    return;
  }
  history.replaceState(null, '', link);
  dispatchEvent(new HashChangeEvent('hashchange'));
};

export const useRoute = (): Route => {
  const [route, setRoute] = useState(routeNow);
  // Before the address can change: other effects wait for a frame.
  useLayoutEffect(() => {
    const look = () => setRoute(routeNow());
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);
  return route;
};
