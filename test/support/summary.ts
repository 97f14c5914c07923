/**
 * Says before the summary which tests passed only when they were repeated, and how they failed first; why tests were skipped,
 * and which command runs them.
 */
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { LONG, QUICK } from './tags.ts';

const reasonOf = (test: TestCase): string => {
  const [filter] = test.project.config.tagsFilter ?? [];
  if (filter === QUICK && test.tags.includes('long')) return 'long: npm run test:long runs them';
  if (filter === LONG && !test.tags.includes('long')) return 'quick: npm test runs them';
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  if (note !== undefined) return note;
  return process.env.DYNAMODB_ENDPOINT
    ? 'they measure the embedded database: npm run test:full runs them'
    : 'this system, or the environment, lacks what they need: see the condition beside the test';
};

const nameOf = ({ module, fullName }: TestCase): string => `${module.relativeModuleId} > ${fullName}`;

/** The most lines of a message that are shown, and characters of each. */
const SHOWN = { lines: 4, characters: 200 };

/** How a test failed before it passed: the beginning of each message, and the first place in the tests. */
const failuresOf = (test: TestCase): string =>
  (test.result().errors ?? [])
    .flatMap(({ message = '', stack = '' }) => [
      ...message.split('\n', SHOWN.lines),
      ...(/^\s+at .*\/test\/.*$/m.exec(stack) ?? []).map((place) => place.trim()),
    ])
    .map((line) => `  ${line.slice(0, SHOWN.characters)}\n`)
    .join('');

export const summary: Reporter = {
  onTestRunEnd: (modules: readonly TestModule[]): void => {
    const passed = modules.flatMap((module) => [...module.children.allTests('passed')]);
    const flaky = passed.filter((test) => test.diagnostic()?.flaky);
    if (flaky.length > 0)
      process.stdout.write(`\n${flaky.map((test) => `flaky: ${nameOf(test)}\n${failuresOf(test)}`).join('')}`);
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const counts = Map.groupBy(skipped, reasonOf);
    const lines = [...counts].map(([reason, tests]) => `${tests.length} ${reason}`);
    if (process.argv.includes(QUICK)) lines.push('files with long tests only: npm run test:long runs them');
    if (lines.length > 0) process.stdout.write(`\n Skipped:\n${lines.map((line) => `  - ${line}\n`).join('')}`);
  },
};
