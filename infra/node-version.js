/**
 * Runs before the sources of a command: a sentence says which Node.js they need, instead of a stack trace. It is
 * JavaScript, because older versions do not run TypeScript.
 */
const REQUIRED = 24;

if (Number.parseInt(process.versions.node, 10) < REQUIRED) {
  const remedy =
    process.platform === 'linux' && process.arch === 'x64'
      ? 'run "npm ci" without "--omit=optional", which installs it in this folder'
      : 'install it from https://nodejs.org';
  process.stderr.write(`This needs Node.js ${REQUIRED} or newer, not ${process.version}: ${remedy}.\n`);
  process.exit(1);
}
