/**
 * The time limit of a request. Middy has one, too, but with a timer for each request, which takes a tenth of the time of the
 * HTTP layer. Here, one timer serves all requests of the process: it stays when a request ends, and the next one uses it.
 */
import { setTimeout } from 'node:timers';
import { Problem } from '../core/problems.ts';

interface Request {
  /** Returns the milliseconds that are left. */
  remaining: () => number;
  reject: (problem: Problem) => void;
}

/** On Lambda, a process has one request at a time: an array is cheaper than a set. */
const requests: Request[] = [];

/** The timer, and the milliseconds with which it began. It keeps the process only while there are requests. */
let timer: NodeJS.Timeout | undefined;
let started = Number.POSITIVE_INFINITY;

/**
 * The result of the work of a request. The work itself goes on after its time.
 *
 * @param remaining - returns the milliseconds that are left for it
 * @throws unavailable — the time is over
 */
export const inTime = <Result>(work: Promise<Result>, remaining: () => number): Promise<Result> =>
  new Promise((resolve, reject) => {
    const request = { remaining, reject };
    requests.push(request);
    wakeUpIn(remaining());
    timer?.ref();
    work.then(
      (result) => {
        remove(request);
        resolve(result);
      },
      (error: unknown) => {
        remove(request);
        reject(error);
      },
    );
  });

/** Has the timer end within some milliseconds. One that began with fewer does: it began earlier. */
const wakeUpIn = (milliseconds: number): void => {
  if (milliseconds >= started) return;
  clearTimeout(timer);
  timer = setTimeout(expireRequests, Math.max(milliseconds, 0));
  started = milliseconds;
};

const remove = (request: Request): void => {
  if (requests.at(-1) === request) requests.pop();
  else if (requests.includes(request)) requests.splice(requests.indexOf(request), 1);
  if (requests.length === 0) timer?.unref();
};

/** Lambda may have frozen the process, so the timer is no proof: the time of later requests is not over. */
const expireRequests = (): void => {
  started = Number.POSITIVE_INFINITY;
  for (const request of [...requests]) {
    const left = request.remaining();
    if (left > 0) wakeUpIn(left);
    else {
      remove(request);
      request.reject(new Problem('unavailable', 'The request took too long. Retry in a moment.', { retryAfter: 1 }));
    }
  }
};
