/** Connects the domain's modules in test code to the table of the served stack. */
import { inject } from 'vitest';
import { callTableOf } from '../../../infra/operator/local-stack/call-table.ts';

const { dynamodb_endpoint, table } = inject('stack');
callTableOf({ dynamodbEndpoint: dynamodb_endpoint, table });

// Answers and user data requests are charged.
process.env.CONTACT_ALLOWANCE = '100000';
process.env.AUDIENCE_ALLOWANCE = '100';
