/**
 * A limit of requests that no test reaches: accounts of tests have it, unless the test is about the limit. The bucket fills
 * in 100 s, so that a process that a busy machine delays for some seconds still finds tokens.
 */
export const UNLIMITED = { rate: 1_000, burst: 100_000 };
