/** What a change of an account replaces or removes: the question of `operator account update`. */
import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../../../shared/accounts/accounts.ts';
import { inDays, RETRY_DAYS } from '../../../shared/core/lifetimes.ts';
import { RECIPIENT, type SendingHours } from '../../../shared/core/sending-hours.ts';
import type { Settings } from './platform.ts';

/** The change as the command line gives it. `false` and `null` remove what there is; undefined leaves it. */
export interface GivenChange {
  name?: string | undefined;
  botNumber?: string | false | undefined;
  rate?: number | false | undefined;
  burst?: number | undefined;
  sendingHours?: SendingHours | false | undefined;
  platform?: { name: string | false | undefined; settings: Settings } | undefined;
  consentWebhook?: Settings | null | undefined;
}

/**
 * What a change replaces or removes, in sentences; none, if it only adds what was missing.
 *
 * @param hasConsentWebhook - whether the account has a webhook of its own for ends of consent
 */
export const replacedBy = (account: Account, change: GivenChange, hasConsentWebhook: boolean): string[] => [
  ...inName(account, change),
  ...inNumber(account, change),
  ...inLimit(account, change),
  ...inHours(account, change),
  ...inPlatform(account, change),
  ...inConsentWebhook(change, hasConsentWebhook),
];

const inName = ({ name: before }: Account, { name }: GivenChange): string[] =>
  name === undefined || name === before ? [] : [`Changes the name "${before}", which users see, to "${name}".`];

const inNumber = ({ bot_number: before }: Account, { botNumber }: GivenChange): string[] => {
  if (before === undefined || botNumber === undefined || botNumber === before) return [];
  return botNumber === false
    ? [`Removes the bot's number ${before}: pending messages fail, and users can no longer write to the bot.`]
    : [`Replaces the bot's number ${before} by ${botNumber}: users' messages to the previous one are rejected.`];
};

const inLimit = (account: Account, { rate, burst }: GivenChange): string[] => {
  if (account.rate === undefined) return [];
  if (rate === false) return ['Removes its own limit of requests: that of the deployment applies.'];
  const isChanged = (rate !== undefined && rate !== account.rate) || (burst !== undefined && burst !== account.burst);
  return isChanged ? ['Changes its limit of requests.'] : [];
};

/** Sending hours in words. */
export const hoursInWords = ({ between: [from, to], time_zone }: SendingHours): string =>
  `${from} to ${to}, ${time_zone === RECIPIENT ? 'in the zone of the user' : time_zone}`;

const inHours = ({ sending_hours: before }: Account, { sendingHours }: GivenChange): string[] => {
  if (before === undefined || sendingHours === undefined || isDeepStrictEqual(before, sendingHours)) return [];
  return sendingHours === false
    ? [`Removes the sending hours, ${hoursInWords(before)}: later messages are sent at any time.`]
    : [`Replaces the sending hours, ${hoursInWords(before)}, of later messages.`];
};

const inPlatform = ({ platform: before }: Account, { platform }: GivenChange): string[] => {
  if (before === undefined || platform === undefined) return [];
  const { name, settings } = platform;
  if (name === false)
    return [
      `Removes the platform "${before}" with its settings. Its pending messages wait ${inDays(RETRY_DAYS)} for another one.`,
    ];
  if (name !== undefined && name !== before) {
    return [`Replaces the platform "${before}" with its settings by "${name}".`];
  }
  const given = Object.keys(settings);
  return given.length === 0 ? [] : [`Changes settings of the platform "${before}": ${given.join(', ')}.`];
};

const inConsentWebhook = ({ consentWebhook }: GivenChange, hasConsentWebhook: boolean): string[] => {
  if (!hasConsentWebhook || consentWebhook === undefined) return [];
  return [
    consentWebhook === null ? 'Removes the webhook for ends of consent.' : 'Changes the webhook for ends of consent.',
  ];
};
