/**
 * `npm run rehearse -- --messages 1e6 --accounts 20 --profile campaign`: plays a small part of a load on the local stack, and
 * predicts duration, first limit and cost of the whole on AWS. Prints a table, and writes a picture. Calls this machine only.
 * Guide: infra/docs/tools/rehearse.md
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { localFolder } from '../../infra/operator/local-stack/stack-file.ts';
import { drawBacklog } from '../bench/growth/picture.ts';
import { play } from './play.ts';
import { planOf, predict, rowsOf } from './predict.ts';

const rehearse = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      messages: { type: 'string', default: '1e6' },
      accounts: { type: 'string', default: '20' },
      profile: { type: 'string', default: 'campaign' },
      played: { type: 'string', default: '400' },
      failing: { type: 'string', default: '0' },
      timeout: { type: 'string', default: '300' },
    },
  });
  const plan = planOf(values);
  const way = await play(plan);
  const predictions = predict(plan, way);

  const rows = rowsOf(plan, way, predictions);
  const width = (of: 'what' | 'value'): number => Math.max(...rows.map((row) => row[of].length));
  for (const { what, value, source } of rows) {
    process.stdout.write(`${what.padEnd(width('what'))}  ${value.padStart(width('value'))}  ${source}\n`);
  }

  const picture = join(localFolder, 'rehearsal.svg');
  const title = `Messages that wait: ${plan.messages.toLocaleString('en-US')} of ${plan.accounts} accounts`;
  await mkdir(localFolder, { recursive: true });
  await writeFile(
    picture,
    drawBacklog(
      title,
      predictions.map(({ title: variant, result, seconds }) => ({
        variant,
        samples: result.samples,
        sent: plan.messages / seconds,
        seconds,
      })),
    ),
  );
  process.stdout.write(`\nThe picture is in ${relative(process.cwd(), picture)}.\n`);
};

try {
  await rehearse();
  process.exit(0);
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
