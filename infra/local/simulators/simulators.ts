/** What is outside of the service: the app network, RapidPro and Turn, simulated, as one. */
import { AppNetwork } from './app-network/app-network.ts';
import { RapidPro } from './rapidpro/rapidpro.ts';
import { Turn } from './turn/turn.ts';

export interface SimulatorsOptions {
  /** Ports of the loopback interface; 0 takes any free one. */
  ports: { phone: number; rapidpro: number; turn: number };
  /** Milliseconds that count as a minute: for RapidPro's retries, and for Turn's rate limit. */
  minute: number;
  /** How long RapidPro waits for an answer, in milliseconds; half a minute, where nothing is said. */
  patience?: number;
  /** Rolls a number from 0 to below 1 for answers that only a share of calls gets. */
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
   * Starts all of them, or none.
   *
   * @throws StartError — a port cannot be had
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

  /** Has all of them call this service from now on. */
  connect(service: { bridgeUrl: string; appToken: string }): void {
    this.app.connect(service);
    this.rapidpro.connect(service);
    this.turn.connect(service);
  }

  /** Ends every call under way, those that hang too. */
  async close(): Promise<void> {
    await Promise.all([this.app.close(), this.rapidpro.close(), this.turn.close()]);
  }
}
