/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  plugins: ['./test/mutation/runner.ts'],
  testRunner: 'kept',
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  // More runners than cores of a small machine, because tests often wait.
  concurrency: 4,
  mutate: ['shared/**/*.ts', '!shared/api/openapi/*.ts'],
  ignorePatterns: ['/.local', '/coverage', '/cdk.out', '/.ci'],
  disableTypeChecks: 'shared/**/*.ts',
  // Stryker rewrites the file with an API that TypeScript 7 does not have.
  tsconfigFile: 'none',
  timeoutMS: 600_000,
  dryRunTimeoutMinutes: 30,
  incremental: true,
  incrementalFile: '.local/mutation/incremental.json',
  tempDirName: '.local/mutation/sandbox',
  reporters: ['clear-text', 'html', 'json', 'progress-append-only'],
  clearTextReporter: { reportTests: false, allowColor: false, reportMutants: false, reportScoreTable: true },
  htmlReporter: { fileName: '.local/mutation/report.html' },
  jsonReporter: { fileName: '.local/mutation/report.json' },
  thresholds: { high: 95, low: 90, break: 90 },
};
