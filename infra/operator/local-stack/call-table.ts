import { setHashSecret } from '../../../shared/core/keyed-hashes.ts';
import { HASH_SECRET } from './hash-secret.ts';

interface Addresses {
  dynamodbEndpoint: string;
  table: string;
  /** The endpoint of buckets, if this process uses them. */
  bucketsEndpoint?: string;
}

/**
 * Directs this process's calls of the table and of buckets to a local stack, with an operator's access key and the stack's
 * secret of hashes. The table's client reads the environment at its first call.
 */
export const callTableOf = ({ dynamodbEndpoint, table, bucketsEndpoint }: Addresses): void => {
  const { AWS_REGION = 'us-east-1' } = process.env;
  // A profile, or a setting that ignores endpoints, would direct the calls elsewhere.
  for (const setting of Object.keys(process.env)) if (setting.startsWith('AWS_')) delete process.env[setting];
  Object.assign(process.env, {
    TABLE_NAME: table,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint,
    // Nothing of a local stack asks AWS who calls it: this endpoint answers with an error.
    AWS_ENDPOINT_URL_STS: dynamodbEndpoint,
    ...(bucketsEndpoint !== undefined && { AWS_ENDPOINT_URL_S3: bucketsEndpoint }),
    AWS_REGION,
    AWS_ACCESS_KEY_ID: 'operator',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
  setHashSecret(HASH_SECRET);
};
