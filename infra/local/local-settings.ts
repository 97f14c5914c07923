/** What differs from a deployment in the settings of a local stack. */
import { moreProperties } from '../../shared/core/settings.ts';
import type { Bundling } from '../bundle/bundle.ts';
import { LOCAL_STACK } from './runtime/condition.ts';

/**
 * The settings of a local stack. It has the properties of this process, whose catalogue the phone shows.
 *
 * @param settings - those that differ from the defaults
 */
export const localSettings = (bundling: Bundling, settings: Record<string, number | boolean>) => ({
  // The stack builds it when somebody opens it.
  documentation: false,
  ...settings,
  bundling,
  conditions: [LOCAL_STACK],
  moreProperties: JSON.parse(moreProperties()),
});
