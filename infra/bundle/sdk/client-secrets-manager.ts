/** Replaces `@aws-sdk/client-secrets-manager` in bundles: the call that functions make. */
import { type ClientOptions, Command, JsonClient, type SendOptions } from './json-client.ts';

const SERVICE = {
  name: 'secretsmanager',
  variable: 'SECRETS_MANAGER',
  target: 'secretsmanager',
  version: '1.1',
  baseDelay: 50,
} as const;

export class SecretsManagerClient {
  readonly #client: JsonClient;

  constructor(options: ClientOptions) {
    this.#client = new JsonClient(SERVICE, options);
  }

  send({ operation, input }: Command, options?: SendOptions): Promise<Record<string, unknown>> {
    return this.#client.call(operation, JSON.stringify(input), options);
  }

  destroy(): void {
    this.#client.destroy();
  }
}

export class GetSecretValueCommand extends Command {
  readonly operation = 'GetSecretValue';
}
