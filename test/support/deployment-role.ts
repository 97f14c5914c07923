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
    v.strictObject({
      'ForAllValues:StringLike': v.strictObject({ 'dynamodb:LeadingKeys': v.array(v.string()) }),
      Null: v.strictObject({ 'dynamodb:LeadingKeys': v.literal('false') }),
    }),
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

/** The role's trust policy, and the statements of its only policy. */
export const deploymentRole = async () => {
  const { Resources } = v.parse(template, JSON.parse(await readFile('.github/deployment-role.json', 'utf8')));
  const { AssumeRolePolicyDocument, Policies } = Resources.Role.Properties;
  return { trust: AssumeRolePolicyDocument.Statement, statements: Policies };
};
