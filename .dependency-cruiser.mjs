/**
 * The layers of the code: which folder may import which. `npm run check` reports every import that breaks a rule. Imports
 * of types count, too.
 *
 * functions → http → api → the domains → core, telemetry, validation, table
 */

const DOMAINS =
  '(accounts|app-network|campaigns|customers|delivery|delivery-history|due-work|jobs|listening|media|messaging|opt-outs|outbound|platforms|profilers|rate-limit|stats|user-data|users|wake-ups)';
const FOUNDATION = '(core|table|telemetry|validation)';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Files import each other in one direction.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-cycles-between-folders',
      comment: 'So do folders, so that each can be understood without those that use it.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^(shared|infra/local/aws)/' },
      to: { circular: true },
    },
    {
      name: 'emulator-alone',
      comment: 'The emulator of AWS knows nothing of this project: what it needs are options.',
      severity: 'error',
      from: { path: '^infra/local/aws/' },
      to: { pathNot: ['^infra/local/aws/', '^node_modules/'], dependencyTypesNot: ['core'] },
    },
    {
      name: 'service-alone',
      comment: 'What is deployed imports nothing of what deploys, serves or tests it.',
      severity: 'error',
      from: { path: '^(shared|functions)/' },
      to: { path: '^(infra|test)/' },
    },
    {
      name: 'functions-without-docs',
      comment: 'The texts and examples of the API description never get into bundles.',
      severity: 'error',
      from: { path: '^functions/' },
      to: { path: '\\.docs\\.ts$', reachable: true },
    },
    {
      name: 'nothing-imports-functions',
      comment: 'Functions are the outermost layer.',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: '^functions/' },
    },
    {
      name: 'http-above-all',
      comment: 'Only functions and the HTTP layer know HTTP.',
      severity: 'error',
      from: { path: '^shared/', pathNot: '^shared/http/' },
      to: { path: '^shared/http/' },
    },
    {
      name: 'api-above-domains',
      comment: 'Domains do not know the API that serves them.',
      severity: 'error',
      from: { path: `^shared/(${DOMAINS}|${FOUNDATION})/` },
      to: { path: '^shared/api/' },
    },
    {
      name: 'foundation-below-domains',
      comment: 'Core, table, telemetry and validation know no domain.',
      severity: 'error',
      from: { path: `^shared/${FOUNDATION}/` },
      to: { path: `^shared/${DOMAINS}/` },
    },
    {
      name: 'api-without-aws',
      comment: 'The API list is read by tests, documentation and infrastructure: it loads no AWS SDK.',
      severity: 'error',
      from: { path: '^shared/api/', pathNot: '\\.docs\\.ts$' },
      to: { path: '^node_modules/@(aws-sdk|smithy)/', reachable: true },
    },
  ],
  options: {
    // TypeScript 7 has no API for parsers.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['^node_modules/', '^test/', '^infra/(?!local/aws/)'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs'],
    },
  },
};
