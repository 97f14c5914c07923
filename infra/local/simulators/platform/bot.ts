/** A bot that replies to users, so that a demo has a conversation. */
import { HTTPException } from 'hono/http-exception';
import { oneOf } from '../schemas.ts';

/** The bots that a channel can have: `echo` returns the user's text. */
export const botName = oneOf('echo', 'none');

export interface BotReply {
  text: string;
  quick_replies: string[];
}

export const echo = (text: string): BotReply =>
  text.trim().toLowerCase() === 'stop'
    ? { text: 'Bye.', quick_replies: [] }
    : { text: `You wrote: ${text}`, quick_replies: ['Again', 'Stop'] };

/** Sends messages to users; messages to the same user one after the other. */
export class Conversations {
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Sends a message to a user after the user's previous messages.
   *
   * @param when - resolves when the message may be sent
   */
  next(user: string, when: Promise<void>, send: () => Promise<unknown>): void {
    const tail = this.#tails.get(user) ?? Promise.resolve();
    const sent = tail
      .then(() => when)
      .then(send)
      .then(() => undefined, ignoreHttpError);
    this.#tails.set(user, sent);
  }
}

/** Without the service's URL, the bot cannot reply. */
const ignoreHttpError = (error: unknown): void => {
  if (!(error instanceof HTTPException)) throw error;
};
