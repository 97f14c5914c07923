/** Whether the page is that of a local stack, on the developer's own machine: it has simulated users. */
export const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
