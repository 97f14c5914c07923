/**
 * Fresh modules in a process that runs many test files. Every file gets its own copies of the project's modules, so
 * that no state of theirs, such as a client of the table, passes from file to file. Packages are loaded once.
 */
import { registerHooks } from 'node:module';

const ROOT = new URL('../..', import.meta.url).href;
const PACKAGES = new URL('node_modules/', ROOT).href;

const kept = globalThis as { testFiles?: { count: number; asDeployed: boolean } };

/** The clients of AWS that bundles have instead of the SDK's. */
const CLIENTS = /^@aws-sdk\/(client-dynamodb|client-secrets-manager|client-sqs|lib-dynamodb)$/;
const DEPLOYED = ['shared/', 'functions/'].map((folder) => new URL(folder, ROOT).href);

/**
 * Modules that are loaded from now on are new copies.
 *
 * @param asDeployed - the service's code gets the clients of AWS that it has in bundles
 */
export const loadAnew = (asDeployed: boolean): void => {
  if (kept.testFiles !== undefined) {
    kept.testFiles.count += 1;
    kept.testFiles.asDeployed = asDeployed;
    return;
  }
  const files = { count: 1, asDeployed };
  kept.testFiles = files;
  registerHooks({
    resolve: (specifier, context, next) => {
      const [, client] = CLIENTS.exec(specifier) ?? [];
      const isReplaced =
        client !== undefined && files.asDeployed && DEPLOYED.some((folder) => context.parentURL?.startsWith(folder));
      const resolved = next(isReplaced ? new URL(`infra/bundle/sdk/${client}.ts`, ROOT).href : specifier, context);
      const { url } = resolved;
      const isOurs = url.startsWith(ROOT) && !url.startsWith(PACKAGES) && !url.includes('?');
      return isOurs ? { ...resolved, url: `${url}?file=${files.count}` } : resolved;
    },
  });
};
