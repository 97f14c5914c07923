/**
 * `npm run operator -- …`: creates accounts, sets and checks their chat platforms, issues and revokes tokens, registers
 * users, imports panelists, shows the history of messages, retries pending messages.
 * Exit codes: 0 success; 1 the command failed, or completed only in part; 2 the command line is invalid.
 */
import { namesTable } from './names-table.ts';

// A reader may close the pipe early (`| head`).
process.stdout.on('error', () => process.exit());

const args = process.argv.slice(2);

if (!namesTable(args, process.env)) {
  // Chat platforms of the local stack run on this machine, without https.
  await import('../local/runtime/use-local-runtime.ts');
  process.env.ALLOW_LOOPBACK = 'true';
}
const { runCommand } = await import('./program.ts');
await runCommand(args);
