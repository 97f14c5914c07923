/** A separate stack whose clock a test moves ahead. */
import { onTestFinished } from 'vitest';
import { Clock } from '../../../infra/local/aws/time/clock.ts';
import { advanceTo, type Moving, movingOf } from '../../../infra/local/clock/advance.ts';
import { tableName } from '../../../shared/core/settings.ts';
import { type OwnStack, type OwnStackOptions, serveOwnStack } from './own-stack.ts';

const MINUTE = 60_000;

export interface MovingStack extends OwnStack {
  clock: Clock;
  /** For the routes of the clock. */
  moving: Moving;
  /** Moves the clock ahead by so many milliseconds. Returns at how many times something was due. */
  advance: (milliseconds: number) => Promise<number>;
  /** Sends a request with the token of the demo account, which must succeed. Returns the response's body. */
  request: <Body>(path: string, body?: object) => Promise<Body>;
}

/** Serves the stack until the test ends. Its clock is also that of the simulators, and of the test. */
export const serveMovingStack = async (name: string, options: Partial<OwnStackOptions> = {}): Promise<MovingStack> => {
  const clock = new Clock();
  // Other test files of this process run at real time.
  onTestFinished(clock.use());
  const own = await serveOwnStack({ name, minute: MINUTE, clock, ...options });
  const { stack, demo } = own;
  const moving = movingOf(stack, { clock, table: tableName(), minute: MINUTE });
  return {
    ...own,
    clock,
    moving,
    advance: (milliseconds) => advanceTo(clock.now() + milliseconds, moving),
    request: async <Body>(path: string, body?: object) => {
      const response = await fetch(`${stack.baseUrl}${path}`, {
        headers: { authorization: `Bearer ${demo.token}`, 'content-type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
      return (await response.json()) as Body;
    },
  };
};

/** Milliseconds since 1970 of a time in the form of the API. */
export const millisecondsOf = (time: string): number => Date.parse(`${time.slice(0, 23)}Z`);
