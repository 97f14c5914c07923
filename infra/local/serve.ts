/** The whole local server: the stack, the simulators, the demo accounts, the phone's page, and the documentation. */

import { callTableOf } from '../operator/local-stack/call-table.ts';
import type { StackFile } from '../operator/local-stack/stack-file.ts';
import { Clock } from './aws/time/clock.ts';
import { movingOf } from './clock/advance.ts';
import { ClockRequests } from './clock/routes.ts';
import { type Demo, demoBots, seedDemo } from './demo.ts';
import { documentation } from './documentation/documentation.ts';
import { Examples } from './documentation/example-data.ts';
import type { DemoTokens } from './launch/demo-tokens.ts';
import { LocalStack, type LocalStackOptions } from './local-stack.ts';
import { LogFeed } from './log-feed.ts';
import { Phone } from './phone/phone.ts';
import { SimulatedUsers } from './simulators/app-network/simulated-users.ts';
import { Changes } from './simulators/changes.ts';
import { Simulators, type SimulatorsOptions } from './simulators/simulators.ts';

interface ServeOptions extends Omit<LocalStackOptions, 'secret' | 'ports'>, Omit<SimulatorsOptions, 'ports'> {
  ports: LocalStackOptions['ports'] & SimulatorsOptions['ports'];
}

export class LocalServer {
  readonly stack: LocalStack;
  readonly #simulators: Simulators;
  readonly #phone: Phone;
  readonly #tableName: string;

  private constructor(stack: LocalStack, simulators: Simulators, phone: Phone, tableName: string) {
    this.stack = stack;
    this.#simulators = simulators;
    this.#phone = phone;
    this.#tableName = tableName;
  }

  /**
   * Starts all parts. If one cannot start, the others are closed.
   *
   * @throws StartError — a port or the database is not available
   */
  static async start({ ports, ...options }: ServeOptions): Promise<LocalServer> {
    const clock = new Clock();
    // For the simulators and the page.
    clock.use();
    const clockChanges = new Changes();
    const simulators = await Simulators.start({ ports, ...options });
    const phone = new Phone(simulators, clockChanges);
    const logFeed = new LogFeed();
    simulators.app.serve(logFeed.routes);
    try {
      const stack = await LocalStack.start({
        ...options,
        clock,
        ports,
        secret: simulators.app.stackSecret,
        onLine: (source, line) => {
          options.onLine(source, line);
          phone.onLine(line);
          logFeed.add(source, line);
        },
        onExchange: phone.onExchange,
      });
      const moving = movingOf(stack, { clock, table: options.tableName, minute: options.minute });
      const clockRequests = new ClockRequests(moving, clockChanges);
      simulators.app.serve(clockRequests.routes);
      return new LocalServer(stack, simulators, phone, options.tableName);
    } catch (error) {
      await simulators.close();
      throw error;
    }
  }

  /**
   * Adds the demo data, connects the simulators, and serves the page and the documentation. Returns the stack file.
   *
   * @param tokens - the demo accounts' tokens of earlier starts; missing ones are added
   */
  async open(tokens: DemoTokens = new Map()): Promise<StackFile> {
    const { stack } = this;
    const { app, rapidpro, turn } = this.#simulators;
    const { baseUrl, bridgeUrl, dynamodbEndpoint, bucketsEndpoint, awsEndpoint } = stack;
    callTableOf({ dynamodbEndpoint, table: this.#tableName });
    const demo: Demo = await seedDemo(this.#simulators, tokens);
    this.#simulators.connect({ bridgeUrl, appToken: demo.app_token });
    new SimulatedUsers(app).watch();
    this.#phone.serve({ baseUrl, bridgeUrl }, demo);
    const [account] = demoBots;
    const examples = new Examples({ account, baseUrl, bridgeUrl, demo });
    stack.serveBeside('base', documentation({ baseUrl, bridgeUrl, phoneUrl: app.phoneUrl, tokens: demo, examples }));
    return {
      base_url: baseUrl,
      bridge_url: bridgeUrl,
      docs_url: `${baseUrl}/docs`,
      phone_url: app.phoneUrl,
      app_url: app.appUrl,
      rapidpro_url: rapidpro.url,
      turn_url: turn.url,
      dynamodb_endpoint: dynamodbEndpoint,
      s3_endpoint: bucketsEndpoint,
      aws_endpoint: awsEndpoint,
      queues: stack.queueUrls(),
      table: this.#tableName,
      ...demo,
      pid: process.pid,
    };
  }

  async close(): Promise<void> {
    await this.stack.close();
    await this.#simulators.close();
  }
}
