/**
 * Which folder may import which. `npm run check` reports every import that breaks a rule. Imports of types count, too.
 */

/** The rooms of `shared/`, from the bottom up: each imports only those before it. */
const LAYERS = [
  ...['core', 'validation', 'telemetry', 'table'],
  ...['users', 'media', 'outbox', 'accounts', 'messaging', 'destinations', 'delivery', 'campaigns'],
  ...['stats', 'profilers', 'user-data', 'app-network', 'due-work'],
  ...['api', 'http', 'mcp'],
];

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
    ...LAYERS.map((layer, index) => ({
      name: `below-${layer}`,
      comment: 'A layer imports only those below it.',
      severity: 'error',
      from: { path: `^shared/(${LAYERS.slice(0, index).join('|')})/` },
      to: { path: `^shared/${layer}/` },
    })).slice(1),
    {
      name: 'no-other-layers',
      comment: 'A new room of shared/ gets its place in LAYERS.',
      severity: 'error',
      from: {},
      to: { path: '^shared/', pathNot: `^shared/(${LAYERS.join('|')})/` },
    },
    {
      name: 'operator-without-local-stack',
      comment:
        'The local stack uses the queries of the command line, never the other way round. The emulator and its runtime are libraries.',
      severity: 'error',
      from: { path: '^infra/operator/' },
      to: { path: '^infra/local/(?!aws/|runtime/)' },
    },
    {
      name: 'tests-over-http',
      comment:
        'What these tests prove, the served stack has done. They may read rows; test/stack/in-process/ calls the code.',
      severity: 'error',
      from: { path: '^test/stack/http/' },
      to: {
        path: '^(shared|functions)/',
        pathNot: [
          '^shared/(core|table|api)/',
          '/entities\\.ts$',
          '^shared/(accounts/(accounts|tokens)|users/users)\\.ts$',
          '^shared/delivery/retry-policy\\.ts$',
        ],
        dependencyTypesNot: ['type-only'],
      },
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
    doNotFollow: { path: ['^node_modules/', '^test/(?!stack/http/)', '^infra/(?!local/aws/|operator/)'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs'],
    },
  },
};
