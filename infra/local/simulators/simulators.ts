/** The simulators of everything outside the service: the app network, RapidPro and Turn. */
import { AppNetwork } from './app-network/app-network.ts';
import { RapidPro } from './rapidpro/rapidpro.ts';
import { Turn } from './turn/turn.ts';

export interface SimulatorsOptions {
  /** Ports of the loopback interface; 0 selects a free one. */
  ports: { phone: number; rapidpro: number; turn: number };
  /** Milliseconds that count as a minute: for RapidPro's retries, and for Turn's rate limit. */
  minute: number;
  /** RapidPro's timeout in milliseconds. Default: half of `minute`. */
  timeoutMs?: number;
  /** Returns a number from 0 to below 1, for fault rules with a share. */
  random?: () => number;
}

interface Parts {
  app: AppNetwork;
  rapidpro: RapidPro;
  turn: Turn;
}

export class Simulators {
  readonly app: AppNetwork;
  readonly rapidpro: RapidPro;
  readonly turn: Turn;

  private constructor({ app, rapidpro, turn }: Parts) {
    this.app = app;
    this.rapidpro = rapidpro;
    this.turn = turn;
  }

  /**
   * Starts all simulators. If one cannot start, the others are closed.
   *
   * @throws StartError — a port is not available
   */
  static async start({ ports, ...options }: SimulatorsOptions): Promise<Simulators> {
    const opened: { close(): Promise<void> }[] = [];
    const open = async <Part extends { close(): Promise<void> }>(starting: Promise<Part>): Promise<Part> => {
      const part = await starting;
      opened.push(part);
      return part;
    };
    try {
      return new Simulators({
        app: await open(AppNetwork.start({ port: ports.phone, ...options })),
        rapidpro: await open(RapidPro.start({ port: ports.rapidpro, ...options })),
        turn: await open(Turn.start({ port: ports.turn, ...options })),
      });
    } catch (error) {
      await Promise.all(opened.map((part) => part.close()));
      throw error;
    }
  }

  /** Sets the service that the simulators call. */
  connect(service: { bridgeUrl: string; appToken: string }): void {
    this.app.connect(service);
    this.rapidpro.connect(service);
    this.turn.connect(service);
  }

  /** Ends every call in progress, including calls that hang. */
  async close(): Promise<void> {
    await Promise.all([this.app.close(), this.rapidpro.close(), this.turn.close()]);
  }
}
