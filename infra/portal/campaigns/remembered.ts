/**
 * The campaigns that were sent in this browser. The service does not list those of which no message was sent yet, and lists none
 * for a token that may not count. Ids alone say nothing about anybody.
 */
const keyOf = (account: string): string => `campaigns:${account}`;

const MAX_IDS = 50;

/** The ids of the latest ones, the newest first. */
export const rememberedCampaigns = (account: string): string[] => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(account)) ?? '[]');
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
};

export const rememberCampaign = (account: string, job: string): void =>
  localStorage.setItem(keyOf(account), JSON.stringify([job, ...rememberedCampaigns(account)].slice(0, MAX_IDS)));
