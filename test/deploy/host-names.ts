/**
 * Resolves names below `localhost` to this machine, as RFC 6761 (6.3) prescribes. The emulator selects an API by such a
 * name, `ID.execute-api.localhost`, and not every resolver knows it.
 */
import dns from 'node:dns';
import promises from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';

const here = (name: string): string => (name.endsWith('.localhost') ? '127.0.0.1' : name);

const { lookup } = dns;
const { lookup: promised } = promises;

Object.assign(dns, {
  lookup: (name: string, ...rest: unknown[]) => Reflect.apply(lookup, dns, [here(name), ...rest]),
});
Object.assign(promises, {
  lookup: (name: string, ...rest: unknown[]) => Reflect.apply(promised, promises, [here(name), ...rest]),
});
syncBuiltinESMExports();
