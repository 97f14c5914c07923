/**
 * `npm run operator -- …`: opens accounts, sets and checks their chat platforms, issues and revokes tokens, registers
 * users, imports panelists, shows the history of messages, retries pending messages.
 * Ends with 0 when all was done, 1 when something could not be, 2 when the command was not understood.
 */
import { namesTable } from './names-table.ts';

// Whoever reads the answer may stop listening (`| head`).
process.stdout.on('error', () => process.exit());

const args = process.argv.slice(2);

if (!namesTable(args, process.env)) {
  // On the local stack, platforms are on this machine, and their URLs have no https.
  await import('../local/runtime/use-local-runtime.ts');
  process.env.ALLOW_LOOPBACK = 'true';
}
const { runCommand } = await import('./program.ts');
await runCommand(args);
