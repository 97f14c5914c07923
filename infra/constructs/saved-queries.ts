/** Saved queries in CloudWatch Logs Insights, over the lines of all functions and hosts. */
import { type ILogGroup, QueryDefinition, QueryString } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

const FIELDS = [
  '@timestamp',
  'message',
  'account',
  'type',
  'state',
  'status',
  'cause',
  'delivery_ms',
  'trace_id',
  '@logStream',
];

/** Filters by the query's name. The operator replaces the words in capitals. Results are sorted, oldest first. */
const QUERIES: Record<string, string[]> = {
  // Of a trace, a message, a user data request or an account.
  'Follow an id': ['@message like /ID/'],
  'What failed': ["level = 'error' or status >= 500"],
};

export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { stage, logGroups }: { stage: string; logGroups: ILogGroup[] }) {
    super(scope, id);
    for (const [name, filterStatements] of Object.entries(QUERIES)) {
      new QueryDefinition(this, name.replaceAll(' ', ''), {
        queryDefinitionName: `BusinessApi/${stage}/${name}`,
        queryString: new QueryString({ fields: FIELDS, filterStatements, sort: '@timestamp asc', limit: 1_000 }),
        logGroups,
      });
    }
  }
}
