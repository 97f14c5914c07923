/** Resolves the template's references to names and URLs on this machine. */
import { type Json, list, text, unknown } from './json.ts';

export type Resolve = (value: Json | undefined) => Json | undefined;

export const REGION = 'us-east-1';
export const ACCOUNT = '000000000000';

const PSEUDO_PARAMETERS: Record<string, string> = {
  'AWS::AccountId': ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::Region': REGION,
  'AWS::URLSuffix': 'localhost',
};

/** The local ARN of a resource. */
export const arnOf = (service: string, resource: string): string =>
  `arn:aws:${service}:${REGION}:${ACCOUNT}:${resource}`;

/**
 * Resolves the intrinsic functions that our templates use.
 *
 * @param standIns - values by `Name` of a resource, or `Name.Attribute`; a missing one is replaced by its own name
 */
export const resolver = (standIns: ReadonlyMap<string, string>): Resolve => {
  const standIn = (name: string): string => standIns.get(name) ?? PSEUDO_PARAMETERS[name] ?? name;

  const resolve: Resolve = (value) => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((element) => resolve(element) ?? null);
    const [[name, argument] = [], ...more] = Object.entries(value);
    if (name === 'Ref') return standIn(text(argument));
    if (name === 'Fn::GetAtt') return standIn(list(argument).map(text).join('.'));
    if (name === 'Fn::Join') {
      const [separator, parts] = list(argument);
      return list(resolve(parts)).map(text).join(text(separator));
    }
    if (name === 'Fn::Sub') return text(argument).replaceAll(/\$\{([^}]+)\}/g, (_, inner: string) => standIn(inner));
    if (name?.startsWith('Fn::') && more.length === 0) throw unknown('intrinsic function', name);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner) ?? null]));
  };
  return resolve;
};
