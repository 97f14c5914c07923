/** Lets test code reach the served stack's table through the domain's own modules, as an operator would. */
import { inject } from 'vitest';
import { callTableOf } from '../../../infra/local/call-table.ts';

const { dynamodb_endpoint, table } = inject('stack');
callTableOf({ dynamodbEndpoint: dynamodb_endpoint, table });
