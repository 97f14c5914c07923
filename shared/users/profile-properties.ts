/**
 * What may be known of a user: the catalogue of profile properties. A new one is a line here; the app network may then
 * report it, and businesses may ask for it.
 */

interface CatalogueEntry {
  /** What it is, for people. */
  says: string;
  /** Whether a business gets it without asking the user. */
  automatic: boolean;
}

export const catalogue = {
  first_name: { says: "the user's first name", automatic: false },
  last_name: { says: "the user's last name", automatic: false },
  display_name: { says: 'the name that the user shows to others', automatic: false },
  number: { says: "the user's phone number", automatic: false },
  id_number: { says: "the number of the user's identity document", automatic: false },
  citizenship: { says: 'the country that the user is a citizen of', automatic: false },
  device_platform: { says: 'the operating system of the phone', automatic: true },
  app_version: { says: 'the version of the app', automatic: true },
  device_make: { says: 'the maker of the phone', automatic: true },
  device_model: { says: 'the model of the phone', automatic: true },
} as const satisfies Record<string, CatalogueEntry>;

export type PropertyName = keyof typeof catalogue;

/** All names, in the order of the catalogue. */
export const propertyNames = Object.keys(catalogue) as PropertyName[];

/** Whether a business gets a property without asking the user. */
export const isAutomatic = (name: PropertyName): boolean => catalogue[name].automatic;
