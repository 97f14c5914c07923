/** A small script that answers users, so that there is a conversation to see. */
import { HTTPException } from 'hono/http-exception';
import { oneOf } from '../schemas.ts';

/** What a bot may be: one that says back what it hears, or none at all. */
export const botName = oneOf('echo', 'none');

export interface BotReply {
  text: string;
  quick_replies: string[];
}

export const echo = (text: string): BotReply =>
  text.trim().toLowerCase() === 'stop'
    ? { text: 'Bye.', quick_replies: [] }
    : { text: `You wrote: ${text}`, quick_replies: ['Again', 'Stop'] };

/** What is said to users: to each of them one thing after the other. */
export class Conversations {
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Says something to a user when all is said that was to be said before.
   *
   * @param when - what else has to be over
   */
  next(user: string, when: Promise<void>, say: () => Promise<unknown>): void {
    const tail = this.#tails.get(user) ?? Promise.resolve();
    const said = tail
      .then(() => when)
      .then(say)
      .then(() => undefined, passOver);
    this.#tails.set(user, said);
  }
}

/** Without the service's URL, the bot cannot reply. */
const passOver = (error: unknown): void => {
  if (!(error instanceof HTTPException)) throw error;
};
