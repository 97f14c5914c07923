/** The condition of `imports` in package.json that selects the modules of the local stack. */
export const LOCAL_STACK = 'local-stack';
