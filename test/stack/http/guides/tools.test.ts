/**
 * The guides of tools for developers show the real outputs of their commands. `npm run guides` writes them again after a
 * change. `test/support/guide-outputs.ts` explains which commands run, and what is replaced. The guide of a tool with a stack
 * of its own is tested beside that tool: test/local/rehearse.test.ts.
 */
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { freePort } from '../../../../infra/local/aws/loopback.ts';
import { ClockRequests } from '../../../../infra/local/clock/routes.ts';
import { LogFeed } from '../../../../infra/local/log-feed.ts';
import { Changes } from '../../../../infra/local/simulators/changes.ts';
import { withOutputs } from '../../../support/guide-outputs.ts';
import { serveMovingStack } from '../../support/moving-clock.ts';
import { bare } from '../../support/operator.ts';

const GUIDES = globSync('infra/docs/tools/*.md', { exclude: ['**/rehearse.md'] }).sort();

test('there are guides', () => {
  expect(GUIDES.length).toBeGreaterThan(1);
});

/** Serves a stack as `npm start` does. Returns the environment of a second terminal. */
const openTerminal = async (name: string) => {
  const feed = new LogFeed();
  const { stack, app, demo, moving } = await serveMovingStack(`guide-${name}`, {
    // The same for all guides, because the table's client of this process reads it once.
    dynamodbEndpoint: inject('stack').dynamodb_endpoint,
    onLine: (source, line) => feed.add(source, line),
  });
  app.serve(feed.routes);
  app.serve(new ClockRequests(moving, new Changes()).routes);
  const LOCAL_FOLDER = await mkdtemp(join(tmpdir(), 'guide-'));
  onTestFinished(() => rm(LOCAL_FOLDER, { recursive: true }));
  const { baseUrl, bridgeUrl, dynamodbEndpoint, bucketsEndpoint } = stack;
  const file = {
    ...{ base_url: baseUrl, bridge_url: bridgeUrl, phone_url: app.phoneUrl, app_url: app.appUrl },
    ...{ dynamodb_endpoint: dynamodbEndpoint, s3_endpoint: bucketsEndpoint, table: String(process.env.TABLE_NAME) },
    ...demo,
    pid: process.pid,
  };
  await writeFile(join(LOCAL_FOLDER, 'stack.json'), JSON.stringify(file));
  const urls = { BASE_URL: baseUrl, BRIDGE_URL: bridgeUrl, PHONE_URL: app.phoneUrl };
  const shown = ['http://127.0.0.1:3000', 'http://127.0.0.1:3001', 'http://127.0.0.1:3002'];
  const hook = `http://127.0.0.1:${await freePort()}`;
  return {
    env: { ...bare, ...urls, TOKEN: demo.token, PANELIST: demo.panelist, BOT: demo.bot_phone_number, LOCAL_FOLDER },
    replacements: {
      ...Object.fromEntries(Object.values(urls).map((url, index) => [url, shown[index] ?? ''])),
      // A program of the reader.
      [hook]: 'http://127.0.0.1:8080',
      // Commands print paths that begin at the project's folder.
      [relative(process.cwd(), LOCAL_FOLDER)]: '.local',
    },
  };
};

test.each(GUIDES)(
  '%s shows the outputs of its commands (npm run guides writes them)',
  { tags: 'long', timeout: 600_000 },
  async (guide) => {
    const shown = await readFile(guide, 'utf8');
    const { guide: written } = await withOutputs(shown, await openTerminal(guide.replaceAll(/\W/g, '-')));
    await expect(written).toMatchFileSnapshot(resolve(guide));
  },
);
