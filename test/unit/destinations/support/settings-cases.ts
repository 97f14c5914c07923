/** Tests of the settings of a chat platform, and of the request that checks them. The tests of each platform include these. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import type { OutboundRequest } from '../../../../shared/destinations/http/request.ts';
import type { Platform } from '../../../../shared/destinations/platform.ts';
import type { PlatformName } from '../../../../shared/destinations/registry.ts';
import { type AnySetup, checkSettings, probeOf } from '../../../../shared/destinations/setup.ts';
import { conversationAbout, type Entry } from '../../../../shared/outbox/event.ts';
import { message } from './entries.ts';

interface SettingsCases {
  name: PlatformName;
  platform: Platform;
  setup: AnySetup;
  /** An entry that causes a request with valid settings. */
  entry: Entry;
  /** Valid settings without unknown ones, and those of them that are for requests from the platform. */
  valid: [settings: object, hook?: object][];
  /** Changes of the first valid settings, and their errors by setting. A missing setting is undefined. */
  invalid: [change: object, errors: Record<string, string>][];
  /** Settings that are never shown. */
  secrets: string[];
  /** The request that checks the first valid settings. */
  check: OutboundRequest;
  /** The responses to it: whether the settings work, or else the cause and the fix. */
  answers: [status: number, body: string, cause?: RegExp, fix?: RegExp][];
}

/** The errors of settings by name. */
const errorsOf = (setup: AnySetup, given: unknown): Record<string, string> => {
  const all = v.object({ ...setup.settings.entries, ...setup.hook?.entries });
  return Object.fromEntries(
    (v.safeParse(all, given).issues ?? []).map((issue) => [
      v.getDotPath(issue) ?? '',
      issue.received === 'undefined' ? 'missing' : issue.message,
    ]),
  );
};

export const settingsCases = ({ name, platform, setup, entry, valid, ...cases }: SettingsCases): void => {
  const [[first] = [{}]] = valid;

  test.each(valid)('valid settings are kept, and unknown ones are dropped: %j %j', (settings, hook) => {
    const expected = { settings, ...(hook && { hook }) };
    expect(checkSettings(setup, { ...settings, ...hook, more: 'x' })).toStrictEqual(expected);
    expect(platform(settings).buildRequest(entry)).toBeDefined();
  });

  test.each(cases.invalid)('invalid settings are rejected, with the reason: %j %j', (change, errors) => {
    const given = { ...first, ...change };
    expect(errorsOf(setup, given)).toEqual(errors);
    expect(() => checkSettings(setup, given)).toThrow(v.ValiError);
    if (!Object.keys(errors).some((name) => name in setup.settings.entries)) return;
    expect(() => platform(given).buildRequest(entry)).toThrow('not_set_up');
    expect(probeOf(setup, given)).toBeUndefined();
  });

  test.each([undefined, null, 'x'])('settings that are no object are rejected: %s', (settings) => {
    expect(() => checkSettings(setup, settings)).toThrow(v.ValiError);
    expect(() => platform(settings).buildRequest(entry)).toThrow('not_set_up');
    expect(probeOf(setup, settings)).toBeUndefined();
  });

  test('secrets have no label, so that they are not shown', () => {
    const hidden = Object.entries(setup.options).flatMap(([name, { label }]) => (label === undefined ? [name] : []));
    expect(hidden).toEqual(cases.secrets);
  });

  test('the check of settings sends a request that changes nothing', () => {
    expect(probeOf(setup, first)?.request).toEqual(cases.check);
  });

  test.each(cases.answers)('the check interprets status %i with body %j: %s %s', (status, body, cause, fix) => {
    const fault = probeOf(setup, first)?.fault({ status, body });
    expect(fault).toEqual(cause && { cause: expect.stringMatching(cause), fix: expect.stringMatching(fix ?? /./) });
  });

  test('reports about messages are apart from messages of users exactly if they have pauses', () => {
    const { reports } = conversationAbout('platform', { ...message, origin: { platform: name, id: '21' } });
    expect(reports === true).toBe(platform(first).receiptFor !== undefined);
  });
};
