/** Saved queries in CloudWatch Logs Insights, over the log groups of all functions and hosts. */
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
  '@log',
];

/** Filters by the query's name. The operator replaces the words in capitals. Results are sorted, oldest first. */
const QUERIES: Record<string, string[]> = {
  'Follow a message': ["message_id = 'MESSAGE'"],
  'Follow a user data request': ["user_data_request_id = 'REQUEST'"],
  'Follow a trace': ['@message like /TRACE/'],
  'What failed': ["level = 'error' or status >= 500"],
  'Long polls without a slot': ["message = 'long poll declined'"],
  'Rejected requests of an account': ["account = 'ACCOUNT' and status >= 400"],
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
