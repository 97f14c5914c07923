/**
 * Runs before the sources of a command: a sentence says which Node.js they need, instead of a stack trace. It is
 * JavaScript, because older versions do not run TypeScript.
 */
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIRED = 24;

if (Number.parseInt(process.versions.node, 10) < REQUIRED) {
  const remedy =
    process.platform === 'linux' && process.arch === 'x64'
      ? 'run "npm ci" without "--omit=optional", which installs it in this folder'
      : 'install it from https://nodejs.org';
  process.stderr.write(`This needs Node.js ${REQUIRED} or newer, not ${process.version}: ${remedy}.\n`);
  process.exit(1);
}

// Node keeps what it has compiled, so that a command starts in two thirds of the time: in this project's folder, into which
// nobody else writes, because Node does not check the code in it.
const { LOCAL_FOLDER = fileURLToPath(new URL('../.local', import.meta.url)) } = process.env;
module.enableCompileCache(join(LOCAL_FOLDER, 'compile-cache'));
