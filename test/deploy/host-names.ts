/**
 * Resolves names below `localhost` to this machine, as RFC 6761 (6.3) prescribes. The emulator selects an API by such a
 * name, `ID.execute-api.localhost`, and not every resolver knows it.
 */
import dns from 'node:dns';

const { lookup } = dns;

Object.assign(dns, {
  lookup: (name: string, ...rest: unknown[]) =>
    Reflect.apply(lookup, dns, [name.endsWith('.localhost') ? '127.0.0.1' : name, ...rest]),
});
