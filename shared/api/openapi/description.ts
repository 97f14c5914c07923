/** The API description, with the URLs of the stack's hosts, and with the properties of the deployment. */
import { builtInNames, catalogue, propertyNames } from '../../users/profile-properties.ts';
import { exampleHosts } from './example-hosts.ts';
import written from './openapi.json' with { type: 'json' };
import { propertyRow } from './property-row.ts';

/** The used part of an OpenAPI document. */
export type ApiDescription = {
  openapi: string;
  components: { responses: Record<string, { description: string }> };
};

/** An OpenAPI document (version 3.1). The URLs of the hosts have no slash at their end. */
export const apiDescription = ({ base, bridge }: Record<'base' | 'bridge', string>): ApiDescription =>
  JSON.parse(
    withProperties(JSON.stringify(written)).replaceAll(exampleHosts.base, base).replaceAll(exampleHosts.bridge, bridge),
  );

/** Adds the properties of the deployment to each list of all names, and to the table of properties. */
const withProperties = (text: string): string => {
  const rowsOf = (names: readonly string[]): string =>
    JSON.stringify(names.flatMap((name) => propertyRow(name, catalogue[name])).join('\n')).slice(1, -1);
  return text
    .replaceAll(`"enum":${JSON.stringify(builtInNames)}`, () => `"enum":${JSON.stringify(propertyNames)}`)
    .replace(rowsOf(builtInNames), () => rowsOf(propertyNames));
};
