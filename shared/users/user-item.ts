/** A user's item in the table. */
import * as v from 'valibot';
import type { Key } from '../table/keys.ts';

/** A user. Each property is an attribute of its own, with the time of its data. */
export interface UserItem extends Key {
  panelist: boolean;
  /** The time of the data about `panelist`. */
  panelist_updated?: string;
  created: string;
  /** The time of the newest data. */
  updated: string;
  /** Counts changes. */
  version: number;
  /** The app network's id of the user, with the time of the data. */
  app_user?: { id: string; updated: string };
}

/** The prefix of the attributes that contain properties. */
const PROPERTY = 'property_';

/** The name of the attribute that contains a property. */
export const attributeOf = (property: string): string => `${PROPERTY}${property}`;

const timed = v.object({ updated: v.string() });

/** The time of a property's data; if there is none, an empty string, which sorts first. */
export const timeOf = (property: unknown): string => (v.is(timed, property) ? property.updated : '');

/** All properties of a user, by name. Includes properties without a value, which were removed. */
export const propertiesOf = (item: UserItem): [string, unknown][] =>
  Object.entries(item).flatMap(([name, property]) =>
    name.startsWith(PROPERTY) ? [[name.slice(PROPERTY.length), property]] : [],
  );

/** A condition, and its values: the user was not changed since `item` was read. */
export const unchanged = (item: UserItem | undefined): { condition: string; values: Record<string, unknown> } => {
  if (item === undefined) return { condition: 'attribute_not_exists(pk)', values: {} };
  const { created, version } = item;
  return { condition: 'created = :seen AND version = :version', values: { ':seen': created, ':version': version } };
};
