export default {
  testRunner: 'vitest',
  // Which tests run a source is known from coverage; imports from `functions/` are not followed.
  vitest: { configFile: 'test/mutation/vitest.config.ts', pool: 'forks', related: false },
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  mutate: ['shared/**/*.ts', '!shared/api/openapi/*.ts'],
  ignorePatterns: ['/.local', '/coverage', '/cdk.out', '/.ci'],
  disableTypeChecks: 'shared/**/*.ts',
  // Stryker rewrites the file with an API that TypeScript 7 does not have.
  tsconfigFile: 'none',
  timeoutMS: 30_000,
  dryRunTimeoutMinutes: 30,
  incremental: true,
  incrementalFile: '.local/mutation/incremental.json',
  tempDirName: '.local/mutation/sandbox',
  reporters: ['clear-text', 'html', 'json', 'progress-append-only'],
  clearTextReporter: { reportTests: false, allowColor: false, reportMutants: false, reportScoreTable: true },
  htmlReporter: { fileName: '.local/mutation/report.html' },
  jsonReporter: { fileName: '.local/mutation/report.json' },
};
