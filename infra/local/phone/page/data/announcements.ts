/** When screen readers announce news: politely, and at most once in three seconds on the whole page. */

const PAUSE_MS = 3_000;

/** When the last announcement was made, in milliseconds since 1970. */
let last = Number.NEGATIVE_INFINITY;

/**
 * Announces the news of one place of the page. News that waits for its turn is replaced by later news: the page still
 * shows all of it. Failures are not announced here, but at once, by `role="alert"`.
 */
export const newAnnouncer = (say: (news: string) => void) => {
  let waiting = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    const wait = last + PAUSE_MS - Date.now();
    if (wait > 0) {
      timer = setTimeout(look, wait);
      return;
    }
    timer = undefined;
    last = Date.now();
    say(waiting);
  };
  return {
    announce: (news: string): void => {
      waiting = news;
      timer ??= setTimeout(look, 0);
    },
    stop: (): void => clearTimeout(timer),
  };
};
