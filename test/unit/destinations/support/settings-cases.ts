/** Tests of the settings of a chat platform. The tests of each platform include these. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import type { Platform } from '../../../../shared/destinations/platform.ts';
import type { Entry } from '../../../../shared/outbox/event.ts';
import { issuesOf } from './entries.ts';

/** The name of a setting, and its error. */
type SettingError = [setting: string, message: string];

interface SettingsCases {
  platform: Platform;
  /** Valid settings without unknown ones. */
  valid: object[];
  /** An entry that causes a request with valid settings. */
  entry: Entry;
  invalid: [name: string, settings: unknown, errors: SettingError[]][];
  /** Settings without a required one, and its name. */
  incomplete: [settings: object, missing: string][];
}

export const settingsCases = ({ platform, valid, entry, invalid, incomplete }: SettingsCases): void => {
  const expectUnusable = (settings: unknown): void => {
    expect(() => platform.destination(settings).buildRequest(entry)).toThrow('not_set_up');
    expect(platform.probe(settings)).toBeUndefined();
  };

  test.each(valid)('are kept if valid, and unknown ones are dropped (%#)', (settings) => {
    expect(platform.check({ ...settings, more: 'x' })).toStrictEqual({ settings });
    expect(platform.destination(settings).buildRequest(entry)).toBeDefined();
  });

  test.each(invalid)('are rejected %s, with the reason, and no request can be built', (_, settings, errors) => {
    expect(issuesOf(platform, settings).map(({ path, message }) => [path?.[0]?.key, message])).toEqual(errors);
    expectUnusable(settings);
  });

  test.each(incomplete)('are rejected if a required one is missing: %j lacks %s', (settings, missing) => {
    const [issue, ...others] = issuesOf(platform, settings);
    expect(others).toEqual([]);
    expect(issue).toMatchObject({ path: [{ key: missing }], received: 'undefined' });
    expectUnusable(settings);
  });

  test.each([undefined, null, 'x'])('are rejected if they are not an object: %s', (settings) => {
    expect(() => platform.check(settings)).toThrow(v.ValiError);
    expectUnusable(settings);
  });
};
