/**
 * The rehearsal: the checklist of the guide for operators with its deployment and a day of a customer, a second deployment,
 * and the end of the stack. Each step prints a line.
 */
import './host-names.ts';
import assert from 'node:assert/strict';
import { delimiter, dirname, join } from 'node:path';
import * as v from 'valibot';
import { freePort } from '../../infra/local/aws/loopback.ts';
import { AppNetwork } from '../../infra/local/simulators/app-network/app-network.ts';
import { localFolder } from '../../infra/operator/local-stack/stack-file.ts';
import { waitsKey } from '../../shared/accounts/entities.ts';
import { type Assembly, synthesise, type Template } from './assembly.ts';
import { checklistSettings, checklistSteps } from './checklist.ts';
import { Commands, REGION } from './commands.ts';
import { Deployed, type Outputs } from './deployed.ts';
import { Ministack } from './ministack.ts';
import { signIn } from './portal.ts';
import type { Environment } from './processes.ts';
import { say, step } from './steps.ts';

const ACCOUNT = '000000000000';
/** A stage with a file of settings, because `operator doctor` compares it. */
const STAGE = 'production';
const STACK = `business-api-${STAGE}`;

/** What differs in the settings of both deployments. It reaches every function and an output. */
const COUNTER_RETENTION = { first: '400', second: '500' };

/** Seconds in which workers must do their work in each step. Lost wake-ups come again within two minutes. */
const WAIT = 150;

const smokeResult = v.object({
  passed: v.boolean(),
  steps: v.array(
    v.object({
      title: v.string(),
      result: v.picklist(['passed', 'failed', 'skipped']),
      duration_ms: v.number(),
      detail: v.optional(v.string(), ''),
    }),
  ),
});

/** Plays the day of `operator smoke`, and prints its steps. No step may be skipped. */
const playDay = async (commands: Commands): Promise<void> => {
  const port = await freePort();
  const { stdout, output } = await commands.operator(
    'smoke',
    '--callback-url',
    `http://127.0.0.1:${port}`,
    '--callback-port',
    `${port}`,
    '--wait',
    `${WAIT}`,
  );
  const { success, output: result } = v.safeParse(v.pipe(v.string(), v.parseJson(), smokeResult), stdout);
  if (!success) throw new Error(`operator smoke failed:\n${output}`);
  for (const { title, result: ended, duration_ms, detail } of result.steps) {
    say(`       ${ended} ${(duration_ms / 1_000).toFixed(1).padStart(6)} s  ${title}${detail && `: ${detail}`}`);
  }
  assert.ok(
    result.passed && result.steps.every(({ result: ended }) => ended === 'passed'),
    'A step of operator smoke did not pass.',
  );
};

/** A customer who stays: a token, and a media file. */
const addCustomer = async (commands: Commands, baseUrl: string): Promise<{ token: string }> => {
  const created = await commands.operator('account', 'create', 'Kept customer');
  assert.equal(created.status, 0, created.output);
  const issued = await commands.operator('token', 'issue', 'kept-customer', '--permissions', 'profilers,messages');
  const { token } = v.parse(v.pipe(v.string(), v.parseJson(), v.object({ token: v.string() })), issued.stdout);
  const body = new FormData();
  body.append('file', new File([Buffer.from('%PDF-1.4\n%%EOF\n')], 'kept.pdf', { type: 'application/pdf' }));
  const headers = { authorization: `Bearer ${token}` };
  const uploaded = await fetch(`${baseUrl}/v1/upload_file`, { method: 'POST', headers, body });
  assert.equal(uploaded.status, 200, await uploaded.text());
  return { token };
};

/** What a deployment must not change. */
const dataOf = async (deployed: Deployed, { TableName, MediaBucketName, AppNetworkSecret }: Outputs) => ({
  table: await deployed.tableId(TableName),
  // The smoke test holds slots of long polls, which all accounts share.
  items: (await deployed.itemKeys(TableName)).filter((key) => !key.startsWith(`${waitsKey('').pk}#`)),
  objects: await deployed.objects(MediaBucketName),
  secret: await deployed.secret(AppNetworkSecret),
});

/** The value of a setting in the environment of each function. */
const countersRetained = async (deployed: Deployed): Promise<Set<string | undefined>> =>
  new Set([...(await deployed.functions()).values()].map(({ COUNTER_RETENTION }) => COUNTER_RETENTION));

interface Rehearsal {
  commands: Commands;
  deployed: Deployed;
  app: AppNetwork;
  first: Promise<Assembly>;
  /** Synthesises the stack with another setting. */
  synthesiseNext: () => Promise<Assembly>;
}

/**
 * Runs a command of the checklist: the stack is that of the rehearsal, and what it needs of the world is on this machine.
 *
 * @throws Error — the command failed, or the rehearsal does not know how to run it
 */
const runFromChecklist = async (words: string[], { commands, app, assembly, pending }: Rehearsed): Promise<void> => {
  const line = words.join(' ');
  const [program, ...args] = words;
  // The checkout exists, and its packages are installed; the environment has a region and the stack's name.
  if (['git clone REPOSITORY business-api', 'cd business-api', 'npm ci'].includes(line) || program === 'export') return;
  if (line === 'npx cdk bootstrap') {
    await commands.cdk('bootstrap', `aws://${ACCOUNT}/${REGION}`);
    return void pending.delete('CDK bootstrap');
  }
  if (/^npx cdk diff -c stage=\w+$/.test(line)) return commands.cdk('diff', '--app', assembly.folder);
  if (/^npx cdk deploy -c stage=\w+$/.test(line)) {
    await commands.cdk('deploy', '--app', assembly.folder, ...DEPLOY);
    return void pending.delete('Stack');
  }
  if (program !== 'npm' || !line.startsWith('npm run operator -- ')) {
    throw new Error(`The checklist has a command that the rehearsal does not run: ${line}`);
  }
  const given = args.slice(3);
  if (given[0] === 'smoke') return playDay(commands);
  if (given[0] === 'app-network') {
    const { url, secret } = JSON.parse(app.stackSecret);
    given.splice(given.indexOf('--url') + 1, 1, url, '--secret', secret);
  }
  const { status, stdout, output } = await commands.operator(...given);
  if (given[0] === 'doctor') return assert.deepEqual(findingsOf(stdout), [...pending], output);
  if (status !== 0) throw new Error(`${line} failed:\n${output}`);
};

const doctorResult = v.object({ checks: v.array(v.object({ name: v.string(), result: v.string() })) });

/** The checks that failed or need attention. */
const findingsOf = (stdout: string): string[] =>
  v
    .parse(v.pipe(v.string(), v.parseJson(), doctorResult), stdout)
    .checks.flatMap(({ name, result }) => (result === 'ok' ? [] : [name]));

interface Rehearsed extends Pick<Rehearsal, 'commands' | 'app'> {
  assembly: Assembly;
  /** What `doctor` finds until the steps that follow. */
  pending: Set<string>;
}

const deployAndDestroy = async ({ commands, deployed, app, first, synthesiseNext }: Rehearsal): Promise<void> => {
  const assembly = await first;
  say(`Left out, because MiniStack does not support it:\n${assembly.excluded.map((line) => `  ${line}`).join('\n')}`);
  // Most of the day of `operator smoke` is a pause until the schedule erases a user.
  const next = synthesiseNext();
  next.catch(() => undefined);
  const pending = new Set(['CDK bootstrap', 'Stack']);
  for (const { title, commands: lines } of await checklistSteps()) {
    await step(`Checklist: ${title}`, async () => {
      for (const words of lines) await runFromChecklist(words, { commands, app, assembly, pending });
    });
  }

  const outputs = await deployed.outputs();
  const { token } = await step('The operator adds a customer, who uploads a file', () =>
    addCustomer(commands, outputs.BaseUrl),
  );
  const isServed = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${token}` };
    const { status } = await fetch(`${outputs.BaseUrl}/v1/research_profilers`, { headers });
    assert.equal(status, 200, "The customer's token does not work.");
  };
  await isServed();
  await step('A person of the customer signs in to the portal, in a browser', async () => {
    const { status, stdout, output } = await commands.operator('portal-link', 'kept-customer');
    assert.equal(status, 0, output);
    const { url } = v.parse(v.pipe(v.string(), v.parseJson(), v.object({ url: v.string() })), stdout);
    await signIn(url, 'Kept customer');
  });
  const before = await dataOf(deployed, outputs);
  assert.ok(before.items.length > 0 && before.objects.length === 1, 'The data of the customer are not stored.');

  await step('A second deployment changes a setting, and keeps the data', async () => {
    assert.deepEqual(await countersRetained(deployed), new Set([COUNTER_RETENTION.first]));
    await commands.cdk('deploy', '--app', (await next).folder, ...DEPLOY);
    const changed = await deployed.outputs();
    assert.deepEqual(changed, { ...outputs, CounterRetention: COUNTER_RETENTION.second });
    assert.deepEqual(await countersRetained(deployed), new Set([COUNTER_RETENTION.second]));
    assert.deepEqual(await dataOf(deployed, outputs), before);
    await isServed();
  });

  await step('cdk destroy fails while the stack has termination protection', async () => {
    const { status } = await commands.tryCdk('destroy', '--app', assembly.folder, '--force');
    assert.notEqual(status, 0);
    await isServed();
  });

  await step('cdk destroy keeps table, bucket and secrets, and removes the rest', async () => {
    await deployed.endTerminationProtection();
    const id = await deployed.stackId();
    await commands.cdk('destroy', '--app', assembly.folder, '--force');
    assert.deepEqual(await deployed.deletion(id), expectedDeletion(assembly.template));
    assert.deepEqual(await dataOf(deployed, outputs), before);
    assert.deepEqual([...(await deployed.functions()).keys()], []);
    assert.deepEqual(await deployed.apis(), []);
    assert.deepEqual(await deployed.queues(), []);
  });
};

/** What the end of the stack keeps and removes, by the policies of the template. */
const expectedDeletion = ({ Resources }: Template): { kept: string[]; removed: string[] } => {
  const ids = Object.keys(Resources).sort();
  const isKept = (id: string): boolean => Resources[id]?.DeletionPolicy === 'Retain';
  const kept = ids.filter(isKept);
  const types = kept.map((id) => Resources[id]?.Type).sort();
  const secret = 'AWS::SecretsManager::Secret';
  assert.deepEqual(types, ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket', secret, secret]);
  return { kept, removed: ids.filter((id) => !isKept(id)) };
};

const DEPLOY = ['--require-approval', 'never', '--ci'];

/**
 * Rehearses with the MiniStack of this Python. All programs write into `folder` only.
 *
 * @throws Error — a step failed
 */
export const rehearse = async (python: string, folder: string): Promise<void> => {
  const env: Environment = {
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    // Neither settings of AWS nor caches of this user.
    HOME: folder,
    TMPDIR: folder,
    LANG: 'C.UTF-8',
  };
  const proposed = await checklistSettings();
  const synthesiseWith = (counterRetention: string): Promise<Assembly> =>
    synthesise(join(folder, `assembly-${counterRetention}`), { ...proposed, stage: STAGE, counterRetention }, env);
  const first = synthesiseWith(COUNTER_RETENTION.first);
  // A failure is reported where the result is needed.
  first.catch(() => undefined);
  const log = join(localFolder, 'test-deploy.log');
  const ministack = await step('MiniStack starts', () => Ministack.start({ python, folder, log, env }));
  const app = await AppNetwork.start({ port: 0 });
  const deployed = new Deployed(STACK, { endpoint: ministack.endpoint, region: REGION });
  try {
    await deployAndDestroy({
      commands: new Commands({ stack: STACK, folder, env, endpoint: ministack.endpoint }),
      deployed,
      app,
      first,
      synthesiseNext: () => synthesiseWith(COUNTER_RETENTION.second),
    });
  } catch (error) {
    say(`\nWarnings and errors of MiniStack and the functions, of ${log}:\n${await ministack.problems()}\n`);
    throw error;
  } finally {
    deployed.close();
    await app.close();
    await ministack.close();
  }
};
