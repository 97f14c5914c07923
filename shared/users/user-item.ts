/** A user's item in the table. */
import * as v from 'valibot';
import type { Key } from '../table/keys.ts';

/** A user; each property is an attribute of its own, with the time of its data. */
export interface UserItem extends Key {
  panelist: boolean;
  /** The time of the data about `panelist`. */
  panelist_updated?: string;
  created: string;
  /** The time of the newest data. */
  updated?: string;
  /** Counts changes. */
  version?: number;
}

/** What attributes begin with that hold properties. */
const PROPERTY = 'property_';

/** The attribute that holds a property. */
export const attributeOf = (property: string): string => `${PROPERTY}${property}`;

const timed = v.object({ updated: v.string() });

/** The time of a property's data; before all others, where there is none. */
export const timeOf = (property: unknown): string => (v.is(timed, property) ? property.updated : '');

/** All properties of a user by their names, those that were removed too. */
export const propertiesOf = (item: UserItem): [string, unknown][] =>
  Object.entries(item).flatMap(([name, property]) =>
    name.startsWith(PROPERTY) ? [[name.slice(PROPERTY.length), property]] : [],
  );

/** The condition under which a user is as it was read, with the values that it needs. */
export const unchanged = (item: UserItem | undefined): { condition: string; values: Record<string, unknown> } => {
  if (item === undefined) return { condition: 'attribute_not_exists(pk)', values: {} };
  const { created, version } = item;
  // Users from before changes were counted have no version.
  return version === undefined
    ? { condition: 'created = :seen AND attribute_not_exists(version)', values: { ':seen': created } }
    : { condition: 'created = :seen AND version = :version', values: { ':seen': created, ':version': version } };
};
