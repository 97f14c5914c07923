/**
 * Runs the code samples of the reference on a local stack: each language plays all examples in their order, as a customer of
 * its own, and must get the responses of the examples. Samples with a new key or job run once more, with another text. Then
 * it verifies signatures of webhooks.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { freePort } from '../../infra/local/aws/loopback.ts';
import { type Example, examples } from '../../infra/openapi/docs.ts';
import { type Language, languages, sampleOf } from '../../infra/openapi/samples/code-samples.ts';
import { hasNewId, requestOf } from '../../infra/openapi/samples/sample-request.ts';
import { verification } from '../../infra/openapi/samples/verification.ts';
import { callTableOf } from '../../infra/operator/local-stack/call-table.ts';
import { placeholders } from '../../shared/api/placeholders.ts';
import { permissions } from '../../shared/core/permissions.ts';
import { end, start } from '../deploy/processes.ts';
import { step } from '../deploy/steps.ts';
import { pdf, png } from '../stack/support/files.ts';
import type { ExampleCustomer } from '../support/example-customer.ts';
import type { RunningStack } from './stack.ts';
import { pythonClient, succeed } from './tools.ts';

/** The program of a sample: the name of its file, and the command that runs the file. */
const programs: Record<Language, { file: string; command: (file: string) => Promise<[string, ...string[]]> }> = {
  curl: { file: 'sample.sh', command: async (file) => ['sh', '-e', file] },
  Python: { file: 'sample.py', command: async (file) => [await pythonClient(), file] },
  JavaScript: { file: 'sample.mjs', command: async (file) => [process.execPath, file] },
  // Without what only debuggers need, it is linked in half the time.
  Go: { file: 'sample.go', command: async (file) => ['go', 'run', '-ldflags=-s -w', file] },
};

/** Attempts of a sample, and the pause between two in milliseconds: counts are updated asynchronously. */
const ATTEMPTS = 20;
const PAUSE = 500;

const newPhone = (): string => `999${Math.floor(1e11 + Math.random() * 8e11)}`;

const newCustomer = async (appToken: string): Promise<ExampleCustomer> => {
  // The modules read the settings of the table when they are loaded.
  const { createAccount } = await import('../../infra/operator/queries/accounts-admin.ts');
  const { issueToken } = await import('../../infra/operator/queries/tokens-admin.ts');
  const { exampleCustomer } = await import('../support/example-customer.ts');
  const [account, bot] = [`test-${randomUUID().slice(0, 8)}`, newPhone()];
  await createAccount({ id: account, name: placeholders.formerName, bot_number: bot });
  const allowed = permissions.filter((permission) => permission !== 'app');
  const { token } = await issueToken(account, { label: 'test', permissions: allowed });
  return await exampleCustomer({ account, bot, user: newPhone(), token, appToken });
};

/** Whether a function had too little processor time to respond. The next attempt finds it loaded. */
const isOfBusyMachine = (error: unknown): boolean => error instanceof Error && /\b50[03]\b/.test(error.message);

/** A text of several words in the body of a sample. */
const FIRST_TEXT = /"[A-Z]\w* \w[^"\n]*"/;

const play = async (language: Language, stack: RunningStack, folder: string): Promise<void> => {
  const { values, prepare, tokenOf } = await newCustomer(stack.app_token);
  const { file, command } = programs[language];
  const [program, ...args] = await command(file);
  await writeFile(join(folder, 'picture.png'), png);
  await writeFile(join(folder, 'document.pdf'), pdf);

  const sourceOf = (example: Example): string => values.substituted(sampleOf(example, language).source);

  const runOnce = async (example: Example, source: string, env: Record<string, string>): Promise<string> => {
    await writeFile(join(folder, file), source);
    const hosts = { BASE_URL: stack.base_url, BRIDGE_URL: stack.bridge_url };
    return await succeed(program, args, { cwd: folder, env: { ...hosts, TOKEN: tokenOf(example), ...env } });
  };

  const runSample = async (example: Example): Promise<void> => {
    await prepare(example);
    // Later examples name this job.
    const env = { JOB_ID: values.substituted(placeholders.job) };
    let output = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (attempt > 0) await pause(PAUSE);
      try {
        output = await runOnce(example, sourceOf(example), env);
      } catch (error) {
        if (!isOfBusyMachine(error)) throw error;
        output = '';
        continue;
      }
      // 204 without a body means that nothing is there yet.
      const answer = output.trim() === '' ? undefined : JSON.parse(output);
      if (example.answer === undefined || values.learn(example.answer, answer)) return;
    }
    throw new Error(`${example.endpoint}, ${example.shows}: the response is ${output}`);
  };

  /** What a reader does: another text, and without a job of the environment. */
  const runChanged = async (example: Example): Promise<void> => {
    const source = sourceOf(example);
    const changed = source.replace(FIRST_TEXT, (text) => `${text.slice(0, -1)} Again"`);
    if (changed === source) throw new Error(`${example.endpoint}, ${example.shows}: there is no text to change.`);
    for (let attempt = 0; ; attempt += 1) {
      try {
        await runOnce(example, changed, {});
        return;
      } catch (error) {
        if (!isOfBusyMachine(error) || attempt === ATTEMPTS) throw error;
        await pause(PAUSE);
      }
    }
  };

  for (const example of examples.slice(0, -1)) await runSample(example);
  // The job of the examples is cancelled now, and their keys are used.
  for (const example of examples) if (hasNewId(requestOf(example))) await runChanged(example);
  // The user leaves.
  for (const example of examples.slice(-1)) await runSample(example);
};

const SECRET = `whsec_${Buffer.from(randomUUID()).toString('base64')}`;
const BODY = JSON.stringify({ message: { from: '27821234567', type: 'text', text: { body: 'Hello, Zoë' } } });

/** A signed request, and requests that must be rejected. */
const webhooks = (): [name: string, headers: Record<string, string>, body: string, isValid: boolean][] => {
  const signedAt = (time: Date, secret = SECRET): Record<string, string> => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(time.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', time, BODY),
  });
  const [now, old] = [new Date(), new Date(Date.now() - 600_000)];
  const other = signedAt(now, `whsec_${Buffer.from(randomUUID()).toString('base64')}`);
  const both = { ...other, 'webhook-signature': `${other['webhook-signature']} ${signedAt(now)['webhook-signature']}` };
  return [
    ['signed', signedAt(now), BODY, true],
    ['signed with two secrets', both, BODY, true],
    ['changed', signedAt(now), `${BODY} `, false],
    ['signed with another secret', other, BODY, false],
    ['old', signedAt(old), BODY, false],
  ];
};

const verifyInShell = async (source: string, folder: string): Promise<void> => {
  await writeFile(join(folder, 'verify.sh'), source);
  for (const [name, headers, body, isValid] of webhooks()) {
    await writeFile(join(folder, 'body.json'), body);
    const env = {
      WEBHOOK_SECRET: SECRET,
      ID: headers['webhook-id'] ?? '',
      TIMESTAMP: headers['webhook-timestamp'] ?? '',
      SIGNATURE: headers['webhook-signature'] ?? '',
    };
    const found = await succeed('sh', ['verify.sh'], { cwd: folder, env }).then(
      () => true,
      () => false,
    );
    if (found !== isValid) throw new Error(`A webhook that is ${name} is ${found ? 'accepted' : 'rejected'}.`);
  }
};

const verifyOnServer = async (language: Language, source: string, folder: string): Promise<void> => {
  const { file, command } = programs[language];
  await writeFile(join(folder, file), source);
  const [program, ...args] = await command(file);
  const port = await freePort();
  const env = { ...process.env, WEBHOOK_SECRET: SECRET, PORT: String(port) };
  const server = start(program, args, { cwd: folder, env });
  const url = `http://127.0.0.1:${port}`;
  try {
    while ((await fetch(url, { method: 'POST' }).catch(() => undefined)) === undefined) {
      if (server.exitCode !== null) throw new Error(`The server in ${language} does not start.`);
      await pause(100);
    }
    for (const [name, headers, body, isValid] of webhooks()) {
      const { status } = await fetch(url, { method: 'POST', headers, body });
      if ((status === 204) !== isValid) throw new Error(`A webhook that is ${name} returns ${status} in ${language}.`);
    }
  } finally {
    await end(server);
  }
};

const [inShell] = verification;

/** Runs all samples. */
export const testSamples = async (stack: RunningStack, folder: string): Promise<void> => {
  callTableOf({ dynamodbEndpoint: stack.dynamodb_endpoint, table: stack.table });
  for (const language of languages) {
    const own = await mkdtemp(join(folder, `samples-${language}-`));
    await step(`${language}: all samples work, and return the responses of the examples`, () =>
      play(language, stack, own),
    );
    const { label, source } = verification.find((one) => one.label === language) ?? inShell;
    await step(`${label}: the sample accepts signed webhooks only`, () =>
      label === 'openssl' ? verifyInShell(source, own) : verifyOnServer(language, source, own),
    );
  }
};
