/** Ctrl-C and SIGTERM during long work: it ends after the step under way. A second Ctrl-C ends the process at once. */
import { printNote } from '../output.ts';
import { EXIT } from './exit-codes.ts';

export interface Signals {
  /** The signal that was received; undefined before. */
  received: 'SIGINT' | 'SIGTERM' | undefined;
  /** Ends the watch: signals have their usual effect again. */
  stop(): void;
}

/**
 * Watches for signals, until `stop` is called.
 *
 * @param onFirst - is called at the first one
 */
export const watchSignals = (onFirst = () => {}): Signals => {
  const signals: Signals = {
    received: undefined,
    stop: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (signals.received !== undefined && signal === 'SIGINT') process.exit(EXIT.interrupted);
    if (signals.received === undefined) {
      printNote('\nStopping. Ctrl-C again ends at once.');
      onFirst();
    }
    signals.received ??= signal === 'SIGTERM' ? 'SIGTERM' : 'SIGINT';
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return signals;
};
