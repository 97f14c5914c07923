/**
 * `npm run operator -- …`: creates accounts, sets and checks their chat platforms, issues and revokes tokens, registers
 * users, imports panelists, shows the history of messages, retries pending messages, brings back lost items,
 * tests a deployment. `terminal/exit-codes.ts` lists the exit codes.
 */
import { namesDeployment } from './names-deployment.ts';

// A reader may close the pipe early (`| head`).
process.stdout.on('error', () => process.exit());

const args = process.argv.slice(2);

if (!namesDeployment(args, process.env)) {
  // Chat platforms of the local stack run on this machine, without https.
  await import('../local/runtime/use-local-runtime.ts');
  process.env.ALLOW_LOOPBACK = 'true';
}
const { runCommand } = await import('./program.ts');
const { retryPatiently } = await import('./terminal/retries.ts');
retryPatiently();
await runCommand(args);
