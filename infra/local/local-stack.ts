/** The service's stack in the emulator, with the settings that are specific to the service. */

import { HASH_SECRET } from '../operator/local-stack/hash-secret.ts';
import { AwsEmulator } from './aws/emulator.ts';
import type { EmulatorOptions } from './aws/emulator-options.ts';
import type { Template } from './aws/template/definitions.ts';
import { readTemplate } from './aws/template/template.ts';

const STACK_NAME = 'BusinessApi';
/** The template's outputs that contain the hosts' URLs. */
const OUTPUTS = { base: 'BaseUrl', bridge: 'BridgeUrl' };

export interface LocalStackOptions extends Omit<EmulatorOptions, 'stackName' | 'hosts' | 'environment' | 'secrets'> {
  /** Ports of the API host and the bridge host; 0 selects a free one. */
  ports: { base: number; bridge: number };
  /** The value of the secret with the app network's URL and signing secret, if the template has it. */
  secret?: string;
}

export class LocalStack extends AwsEmulator {
  /**
   * Opens the ports, starts the database, creates the table and serves the stack. Functions receive `minute` as MINUTE,
   * which the modules of `runtime/` read.
   *
   * @throws StartError — a port or the database is not available
   */
  static async start({ ports, secret, ...options }: LocalStackOptions): Promise<LocalStack> {
    const { NODE_V8_COVERAGE, TABLE_TIMEOUT_MS } = process.env;
    const emulated: EmulatorOptions = {
      ...options,
      stackName: STACK_NAME,
      secrets: { HashSecret: HASH_SECRET, ...(secret !== undefined && { AppNetwork: secret }) },
      hosts: {
        base: { output: OUTPUTS.base, port: ports.base },
        bridge: { output: OUTPUTS.bridge, port: ports.bridge },
      },
      environment: {
        MINUTE: String(options.minute),
        ALLOW_LOOPBACK: 'true',
        ...(TABLE_TIMEOUT_MS !== undefined && { TABLE_TIMEOUT_MS }),
        // Set if test coverage is collected.
        ...(NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE }),
      },
    };
    return LocalStack.serve(emulated, (parts) => new LocalStack(emulated, parts));
  }

  get baseUrl(): string {
    return this.urlOf('base');
  }

  get bridgeUrl(): string {
    return this.urlOf('bridge');
  }
}

/**
 * Reads the service's template as the local stack does, with these URLs and this table name.
 *
 * @internal Tests use it, too.
 */
export const readLocalTemplate = (
  assembly: string,
  { tableName, baseUrl, bridgeUrl, awsUrl }: Record<'tableName' | 'baseUrl' | 'bridgeUrl' | 'awsUrl', string>,
): Promise<Template> =>
  readTemplate(assembly, {
    stackName: STACK_NAME,
    tableName,
    hosts: { base: { output: OUTPUTS.base, url: baseUrl }, bridge: { output: OUTPUTS.bridge, url: bridgeUrl } },
    awsUrl,
  });
