/**
 * The catalogue of profile properties: the app network may report them, and businesses may request them. To add a
 * property of the service, add a line here. The setting `moreProperties` adds properties of a deployment.
 */
import { moreProperties } from '../core/settings.ts';

interface CatalogueEntry {
  /** For the API reference and the local phone. */
  description: string;
  /** Whether a business receives it without the user's approval. */
  automatic: boolean;
}

/** The properties of the service, which every deployment has. */
const builtIn = {
  first_name: { description: "the user's first name", automatic: false },
  last_name: { description: "the user's last name", automatic: false },
  display_name: { description: 'the name that the user shows to others', automatic: false },
  number: { description: "the user's phone number", automatic: false },
  id_number: { description: "the number of the user's identity document", automatic: false },
  citizenship: { description: 'the country that the user is a citizen of', automatic: false },
  device_platform: { description: 'the operating system of the phone', automatic: true },
  app_version: { description: 'the version of the app', automatic: true },
  device_make: { description: 'the maker of the phone', automatic: true },
  device_model: { description: 'the model of the phone', automatic: true },
  device_tac: {
    description: 'the first eight digits of the IMEI, which identify the type of the phone',
    automatic: true,
  },
} as const satisfies Record<string, CatalogueEntry>;

/** The names of the properties of the service. */
export const builtInNames: readonly string[] = Object.keys(builtIn);

/** How a property of a deployment is granted. */
export const grants = ['automatic', 'approval'] as const;

type Grant = (typeof grants)[number];

/** The properties of the deployment, as the setting has them: each name with its grant. */
const added: [string, CatalogueEntry][] = Object.entries<Grant>(JSON.parse(moreProperties())).map(([name, grant]) => [
  name,
  { description: 'a property of this deployment', automatic: grant === 'automatic' },
]);

/** All properties: those of the service, and then those of the deployment. */
export const catalogue: Readonly<Record<string, CatalogueEntry>> = { ...builtIn, ...Object.fromEntries(added) };

/** The name of a property in the catalogue. */
export type PropertyName = string;

/** All names, in the order of the catalogue. */
export const propertyNames: readonly PropertyName[] = Object.keys(catalogue);

/** Whether a business receives a property without the user's approval. */
export const isAutomatic = (name: PropertyName): boolean => catalogue[name]?.automatic === true;
