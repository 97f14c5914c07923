/** The role for GitHub: the statements of its policy, in the form of the template. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';

const oneOrMore = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((given) => [given].flat()),
);

const sub = v.pipe(
  v.object({ 'Fn::Sub': v.string() }),
  v.transform((given) => given['Fn::Sub']),
);

const statement = v.strictObject({
  Sid: v.string(),
  Effect: v.literal('Allow'),
  Action: oneOrMore,
  Resource: v.union([
    v.pipe(
      sub,
      v.transform((one) => [one]),
    ),
    v.array(sub),
  ]),
  Condition: v.optional(
    v.union([
      v.strictObject({
        'ForAllValues:StringLike': v.strictObject({ 'dynamodb:LeadingKeys': v.array(v.string()) }),
        Null: v.strictObject({ 'dynamodb:LeadingKeys': v.literal('false') }),
      }),
      v.strictObject({
        StringEquals: v.strictObject({
          'aws:ResourceTag/service': v.literal('business-api'),
          'aws:ResourceTag/stage': v.strictObject({ Ref: v.literal('Stage') }),
        }),
      }),
    ]),
  ),
});

const template = v.object({
  Resources: v.strictObject({
    Role: v.object({
      Properties: v.strictObject({
        Description: v.unknown(),
        MaxSessionDuration: v.number(),
        AssumeRolePolicyDocument: v.object({ Statement: v.array(v.unknown()) }),
        Policies: v.pipe(
          v.tuple([v.object({ PolicyDocument: v.object({ Statement: v.array(statement) }) })]),
          v.transform(([policy]) => policy.PolicyDocument.Statement),
        ),
      }),
    }),
  }),
});

type Conditions = v.InferOutput<typeof statement>['Condition'];

/** The leading keys to which a statement is limited; undefined if it is not about items. */
export const leadingKeysIn = (conditions: Conditions): string[] | undefined =>
  conditions && 'ForAllValues:StringLike' in conditions
    ? conditions['ForAllValues:StringLike']['dynamodb:LeadingKeys']
    : undefined;

/** Whether a statement is limited to resources with the tags of the stage. */
export const isLimitedByTags = (conditions: Conditions): boolean =>
  conditions !== undefined && 'StringEquals' in conditions;

/** The role's trust policy, and the statements of its only policy. */
export const deploymentRole = async () => {
  const { Resources } = v.parse(template, JSON.parse(await readFile('.github/deployment-role.json', 'utf8')));
  const { AssumeRolePolicyDocument, Policies } = Resources.Role.Properties;
  return { trust: AssumeRolePolicyDocument.Statement, statements: Policies };
};
