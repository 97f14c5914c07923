/**
 * `npm run operator -- …`: opens accounts, sets and checks their chat platforms, issues and revokes tokens, registers
 * users, imports panelists, shows what became of messages, looks after what waits to go out.
 * Ends with 0 when all was done, 1 when something could not be, 2 when the command was not understood.
 */
import { runCommand } from './program.ts';

// Whoever reads the answer may stop listening (`| head`).
process.stdout.on('error', () => process.exit());

await runCommand(process.argv.slice(2));
