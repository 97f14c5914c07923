/** The table's client of this process. */
import { documents } from '../../shared/table/client.ts';

/** Moves the client, which keeps the address of its first call, to another database. */
export const moveTo = (dynamodbEndpoint: string): void => {
  const { protocol, hostname, port, pathname: path } = new URL(dynamodbEndpoint);
  const endpoint = async () => ({ protocol, hostname, port: Number(port), path });
  Object.assign(documents.config, { endpoint, isCustomEndpoint: true });
};
