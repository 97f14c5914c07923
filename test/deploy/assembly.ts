/** The stack as files for `cdk deploy --app FOLDER`, without the resources that the emulator does not support. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { LOCAL_STACK } from '../../infra/local/runtime/condition.ts';
import { type Environment, run } from './processes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const resource = v.looseObject({
  Type: v.string(),
  Properties: v.optional(v.record(v.string(), v.unknown()), {}),
  DeletionPolicy: v.optional(v.string()),
});

const template = v.looseObject({ Resources: v.record(v.string(), resource) });

type Resource = v.InferOutput<typeof resource>;

export type Template = v.InferOutput<typeof template>;

/** What MiniStack 1.5.33 does not support. */
const NOT_SUPPORTED: { what: string; matches: (resource: Resource) => boolean }[] = [
  { what: 'saved query', matches: ({ Type }) => Type === 'AWS::Logs::QueryDefinition' },
  {
    what: 'alarm with metric math',
    matches: ({ Type, Properties }) => Type === 'AWS::CloudWatch::Alarm' && 'Metrics' in Properties,
  },
  { what: 'budget', matches: ({ Type }) => Type === 'AWS::Budgets::Budget' },
];

/** The hosts of own domains have https URLs, and MiniStack has no certificate for them. */
const SETTINGS_NOT_SUPPORTED = ['baseDomain', 'baseCertificate', 'bridgeDomain', 'bridgeCertificate'];

export interface Assembly {
  folder: string;
  template: Template;
  /** The settings and resources that are left out, and the references to them, one line each. */
  excluded: string[];
}

/**
 * Synthesises the stack. Functions have the modules of the local stack, because the destinations that they call are on
 * this machine. Only the CDK app reads CDK_CONTEXT_JSON: the CDK's command would replace it.
 */
export const synthesise = async (
  folder: string,
  settings: Record<string, unknown>,
  env: Environment,
): Promise<Assembly> => {
  const { left = [], used = [] } = Object.groupBy(Object.entries(settings), ([name]) =>
    SETTINGS_NOT_SUPPORTED.includes(name) ? 'left' : 'used',
  );
  const { status, output } = await run(process.execPath, ['infra/app.ts'], {
    cwd: root,
    env: {
      ...env,
      CDK_OUTDIR: folder,
      // The rules of cdk-nag are a test of their own.
      CDK_VALIDATION: 'false',
      CDK_CONTEXT_JSON: JSON.stringify({ settings: { ...Object.fromEntries(used), conditions: [LOCAL_STACK] } }),
    },
  });
  if (status !== 0) throw new Error(`The stack cannot be synthesised:\n${output}`);
  const file = join(folder, 'BusinessApi.template.json');
  const supported = withoutUnsupported(v.parse(template, JSON.parse(await readFile(file, 'utf8'))));
  await writeFile(file, JSON.stringify(supported.template));
  const excluded = [...left.map(([name]) => `${name} (setting of a domain)`), ...supported.excluded];
  return { folder, template: supported.template, excluded };
};

/**
 * Leaves out what the emulator does not support. References to it become a text.
 *
 * @throws Error — an entry of the list matches nothing
 */
export const withoutUnsupported = (full: Template): Omit<Assembly, 'folder'> => {
  const reasons = Object.entries(full.Resources).flatMap(([id, resource]) => {
    const unsupported = NOT_SUPPORTED.find(({ matches }) => matches(resource));
    return unsupported ? [[id, unsupported.what] as const] : [];
  });
  for (const { what } of NOT_SUPPORTED) {
    if (!reasons.some(([, reason]) => reason === what)) throw new Error(`The stack has no ${what}: shorten the list.`);
  }
  const left = new Set(reasons.map(([id]) => id));
  const replaced: string[] = [];
  const kept = Object.entries(full.Resources).flatMap(([id, resource]) => {
    if (left.has(id)) return [];
    const before = replaced.length;
    const cleaned = v.parse(template.entries.Resources.value, withoutReferences(resource, left, replaced));
    return [[id, cleaned, replaced.length - before] as const];
  });
  return {
    template: { ...full, Resources: Object.fromEntries(kept.map(([id, resource]) => [id, resource])) },
    excluded: [
      ...reasons.map(([id, what]) => `${id} (${what})`),
      ...kept.flatMap(([id, { Type }, count]) => (count > 0 ? [`${count} references to them in ${id} (${Type})`] : [])),
    ],
  };
};

/** A value without references to these resources. Each one that was replaced is added to `replaced`. */
const withoutReferences = (value: unknown, left: Set<string>, replaced: string[]): unknown => {
  if (Array.isArray(value)) return value.map((inner) => withoutReferences(inner, left, replaced));
  if (typeof value !== 'object' || value === null) return value;
  const target = referenceIn(value);
  if (target !== undefined && left.has(target)) {
    replaced.push(target);
    return `excluded:${target}`;
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === 'DependsOn' && Array.isArray(inner)
        ? inner.filter((id) => !left.has(id))
        : withoutReferences(inner, left, replaced),
    ]),
  );
};

const reference = v.union([
  v.pipe(
    v.strictObject({ Ref: v.string() }),
    v.transform(({ Ref }) => Ref),
  ),
  v.pipe(
    v.strictObject({ 'Fn::GetAtt': v.tupleWithRest([v.string()], v.unknown()) }),
    v.transform(({ 'Fn::GetAtt': [id] }) => id),
  ),
]);

const referenceIn = (value: object): string | undefined => {
  const { success, output } = v.safeParse(reference, value);
  return success ? output : undefined;
};
