/** The table's client of this process. */
import { documents } from '../../shared/table/client.ts';

/** Moves the client of the SDK, which keeps the address of its first call, to another database. */
export const moveTo = (dynamodbEndpoint: string): void => {
  const { protocol, hostname, port, pathname: path } = new URL(dynamodbEndpoint);
  const endpoint = async () => ({ protocol, hostname, port: Number(port), path });
  if ('config' in documents) Object.assign(documents.config, { endpoint, isCustomEndpoint: true });
};
