/** Measures how many cores of the machine are idle, whatever process keeps the others busy. */
import { cpus } from 'node:os';

interface Times {
  idle: number;
  total: number;
}

/** Times of all cores together since the machine started, in milliseconds, in steps of 10. */
const readTimes = (): Times => {
  const all = cpus().map(({ times }) => times);
  const idle = all.reduce((sum, times) => sum + times.idle, 0);
  const total = all.reduce((sum, times) => sum + Object.values(times).reduce((one, other) => one + other, 0), 0);
  return { idle, total };
};

export class IdleCores {
  readonly #cores = cpus().length;
  #last = readTimes();

  /** The average number of idle cores since the last call. 0 if too little time has passed to tell. */
  read(): number {
    const times = readTimes();
    const { idle, total } = this.#last;
    this.#last = times;
    return times.total === total ? 0 : ((times.idle - idle) / (times.total - total)) * this.#cores;
  }
}
