/**
 * The campaigns that were scheduled in this browser. The service lists only campaigns of which a message was sent. Ids alone
 * say nothing about anybody.
 */
const keyOf = (account: string): string => `scheduled:${account}`;

const MAX_IDS = 50;

export const scheduledHere = (account: string): string[] => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(account)) ?? '[]');
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
};

export const rememberScheduled = (account: string, job: string): void =>
  localStorage.setItem(keyOf(account), JSON.stringify([job, ...scheduledHere(account)].slice(0, MAX_IDS)));
