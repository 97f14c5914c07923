/**
 * Replaces the package `debug` in bundles: functions do not print the debug output of libraries, and the package would
 * look for a terminal.
 */
const log = (): void => undefined;

export default () => log;
