/**
 * Fresh modules in a process that runs many test files. Every file gets its own copies of the project's modules, so
 * that no state of theirs, such as a client of the table, passes from file to file. Packages are loaded once.
 */
import { registerHooks } from 'node:module';

/** Coverage is of the files themselves. Each process then runs one test file. */
const IS_MEASURED = Boolean(process.env.NODE_V8_COVERAGE);
const ROOT = new URL('../..', import.meta.url).href;
const PACKAGES = new URL('node_modules/', ROOT).href;

const kept = globalThis as { testFiles?: { count: number; asDeployed: boolean } };

/** The clients of AWS that bundles have instead of the SDK's. */
const CLIENTS = /^@aws-sdk\/(client-dynamodb|client-secrets-manager|client-sqs|lib-dynamodb)$/;
const SERVICE = ['shared/', 'functions/'].map((folder) => new URL(folder, ROOT).href);
/** Commands are of the client that sends them: tests send and recognise those of the service. */
const COMMANDS = '@aws-sdk/lib-dynamodb';
const TESTS = new URL('test/', ROOT).href;

/** Whether a module gets the client that bundles have. */
const isReplaced = (specifier: string, parent = ''): boolean =>
  CLIENTS.test(specifier) &&
  (SERVICE.some((folder) => parent.startsWith(folder)) || (specifier === COMMANDS && parent.startsWith(TESTS)));

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
      const isOther = files.asDeployed && isReplaced(specifier, context.parentURL);
      const resolved = next(
        isOther ? new URL(`${specifier.replace('@aws-sdk', 'infra/bundle/sdk')}.ts`, ROOT).href : specifier,
        context,
      );
      const { url } = resolved;
      const isOurs = !IS_MEASURED && url.startsWith(ROOT) && !url.startsWith(PACKAGES) && !url.includes('?');
      return isOurs ? { ...resolved, url: `${url}?file=${files.count}` } : resolved;
    },
  });
};
