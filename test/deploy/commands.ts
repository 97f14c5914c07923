/** The CDK's command and the operator's command, in the environment of the emulator. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOCAL_STACK } from '../../infra/local/runtime/condition.ts';
import { type Ended, type Environment, run } from './processes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export const REGION = 'us-east-1';

const awsEnvironment = (endpoint: string): Environment => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_EC2_METADATA_DISABLED: 'true',
  CDK_DISABLE_CLI_TELEMETRY: 'true',
  CDK_DISABLE_VERSION_CHECK: 'true',
});

interface Options {
  /** The name of the stack. */
  stack: string;
  /** A folder without a CDK app. */
  folder: string;
  env: Environment;
  /** The emulator's endpoint. */
  endpoint: string;
}

export class Commands {
  readonly #stack: string;
  readonly #folder: string;
  readonly #env: Environment;

  constructor({ stack, folder, env, endpoint }: Options) {
    this.#stack = stack;
    this.#folder = folder;
    this.#env = { ...env, ...awsEnvironment(endpoint) };
  }

  /** @throws Error — the command failed; the message contains its output */
  async cdk(...args: string[]): Promise<void> {
    const { status, output } = await this.tryCdk(...args);
    if (status !== 0) throw new Error(`cdk ${args.join(' ')} failed:\n${output}`);
  }

  tryCdk(...args: string[]): Promise<Ended> {
    const command = join(root, 'node_modules/aws-cdk/bin/cdk');
    // In a folder without cdk.json, so that no command synthesises the stack.
    return run(process.execPath, [command, ...args, '--no-notices', '--no-color'], {
      cwd: this.#folder,
      env: this.#env,
    });
  }

  operator(...args: string[]): Promise<Ended> {
    return run(
      process.execPath,
      [
        `--conditions=${LOCAL_STACK}`,
        `--import=${join(import.meta.dirname, 'host-names.ts')}`,
        'infra/operator/main.ts',
        ...args,
        '--stack',
        this.#stack,
        '--json',
      ],
      // Chat platforms are on this machine.
      { cwd: root, env: { ...this.#env, ALLOW_LOOPBACK: 'true' } },
    );
  }
}
