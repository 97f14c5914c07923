/**
 * The session: a token, in the storage of this tab only. It is never part of an address, a cookie or a log.
 */
import type { EndpointName } from '../../shared/api/index.ts';
import { type BodyFrom, permissionOf } from './client.ts';

export interface StoredSession {
  token: string;
  /** Whether the token was made for this session: it is revoked when the session ends. */
  own: boolean;
}

export interface Session extends StoredSession {
  info: BodyFrom<'readTokenInfo'>;
  /** Whether the token may call an endpoint. */
  may: (name: EndpointName) => boolean;
}

const KEY = 'session';

export const storedSession = (): StoredSession | undefined => {
  try {
    const { token, own } = JSON.parse(sessionStorage.getItem(KEY) ?? '{}');
    return typeof token === 'string' ? { token, own: own === true } : undefined;
  } catch {
    return undefined;
  }
};

export const store = (session: StoredSession | undefined): void => {
  // The tab also keeps a token that somebody entered in the documentation.
  if (session === undefined) sessionStorage.clear();
  else sessionStorage.setItem(KEY, JSON.stringify(session));
};

const forgetting = new Set<() => void>();

/** Registers what is done when somebody signs out: whoever uses this tab next must not find it. */
export const whenSignedOut = (forget: () => void): void => void forgetting.add(forget);

/** Forgets what a session has left in the memory of the tab. */
export const forgetAll = (): void => {
  for (const forget of forgetting) forget();
};

export const sessionOf = (stored: StoredSession, info: Session['info']): Session => ({
  ...stored,
  info,
  may: (name) => {
    const permission = permissionOf(name);
    return permission === 'any' || permission === 'none' || (info.permissions as string[]).includes(permission ?? '');
  },
});

/**
 * Takes the code of a sign-in link out of the address, so that neither history nor a copied address contains it.
 * `#code=CODE&to=/campaigns/12` becomes `#/campaigns/12`.
 */
export const takeCode = (): string | undefined => {
  const given = new URLSearchParams(location.hash.slice(1));
  const code = given.get('code');
  if (code === null) return undefined;
  const to = given.get('to') ?? '';
  history.replaceState(null, '', `${location.pathname}#${to.startsWith('/') ? to : '/'}`);
  return code;
};
