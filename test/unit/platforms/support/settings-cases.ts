/** What every chat platform fulfils with the settings that an operator gives it. Each platform's tests include these. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import type { Entry } from '../../../../shared/messaging/events.ts';
import type { Platform } from '../../../../shared/platforms/platform.ts';
import { issuesOf } from './entries.ts';

/** The name of a setting, and what is wrong with it. */
type Fault = [setting: string, says: string];

interface SettingsCases {
  platform: Platform;
  /** Settings that are right, each with nothing that it does not need. */
  right: object[];
  /** Something that the platform is sent with right settings. */
  entry: Entry;
  wrong: [name: string, settings: unknown, faults: Fault[]][];
  /** Settings of which one is missing, and its name. */
  incomplete: [settings: object, missing: string][];
}

export const settingsCases = ({ platform, right, entry, wrong, incomplete }: SettingsCases): void => {
  const expectUnusable = (settings: unknown): void => {
    expect(() => platform.destination(settings).buildRequest(entry)).toThrow('not_set_up');
    expect(platform.probe(settings)).toBeUndefined();
  };

  test.each(right)('are kept, and nothing else is (%#)', (settings) => {
    expect(platform.check({ ...settings, more: 'x' })).toStrictEqual({ settings });
    expect(platform.destination(settings).buildRequest(entry)).toBeDefined();
  });

  test.each(wrong)('are rejected %s, with the reason, and no request can be built', (_, settings, faults) => {
    expect(issuesOf(platform, settings).map(({ path, message }) => [path?.[0]?.key, message])).toEqual(faults);
    expectUnusable(settings);
  });

  test.each(incomplete)('are rejected if one is missing: %j lacks %s', (settings, missing) => {
    const [issue, ...others] = issuesOf(platform, settings);
    expect(others).toEqual([]);
    expect(issue).toMatchObject({ path: [{ key: missing }], received: 'undefined' });
    expectUnusable(settings);
  });

  test.each([undefined, null, 'x'])('are rejected if they are no object: %s', (settings) => {
    expect(() => platform.check(settings)).toThrow(v.ValiError);
    expectUnusable(settings);
  });
};
