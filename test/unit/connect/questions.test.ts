/** Questions on a terminal. */
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { terminalQuestions } from '../../../infra/operator/connect/questions.ts';

const terminal = (isTTY = true) => {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  let written = '';
  output.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  const questions = terminalQuestions({ input, output });
  onTestFinished(() => questions?.close());
  return { input, questions, written: () => written };
};

test('without a terminal, there are no questions', () => {
  expect(terminal(false).questions).toBeUndefined();
});

test('an answer has no white space around it, and an empty one is the default', async () => {
  const { input, questions } = terminal();
  const answers = [questions?.ask('Platform', 'rapidpro')];
  input.write('\r');
  await answers[0];
  answers.push(questions?.ask('Number'));
  input.write('  27820000001 \r');
  expect(await Promise.all(answers)).toEqual(['rapidpro', '27820000001']);
});

test('a secret is not shown while it is typed, and the next answer is', async () => {
  const { input, questions, written } = terminal();
  const secret = questions?.askSecret("Turn's token");
  input.write('turn-secret\r');
  expect(await secret).toBe('turn-secret');
  const next = questions?.ask('Number');
  input.write('27820000001\r');
  await next;
  expect(written()).toContain("Turn's token (not shown)");
  expect(written()).not.toContain('turn-secret');
  expect(written()).toContain('27820000001');
});

test.each([
  ['y', true],
  ['YES', true],
  ['', false],
  ['n', false],
  ['yesterday', false],
])('the answer %j to a yes-or-no question means %s', async (typed, meaning) => {
  const { input, questions } = terminal();
  const answer = questions?.confirm('Replace them?');
  input.write(`${typed}\r`);
  expect(await answer).toBe(meaning);
});
