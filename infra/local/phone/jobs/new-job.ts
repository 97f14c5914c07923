/** A job that the page's user sends as a business. */
import * as v from 'valibot';
import { priorities } from '../../../../shared/campaigns/batch.ts';
import { madeUpNumbers } from '../../simulators/app-network/simulated-users.ts';
import { fields, filledText, oneOf, wholeNumber } from '../../simulators/schemas.ts';

const MOST = 10_000;

const numbers = v.array(v.string('must be a string'), 'must be a list of numbers');

/** The body of `POST /businesses/{id}/jobs`. The service validates everything else. */
export const newJob = v.pipe(
  fields({
    text: filledText,
    to: v.exactOptional(numbers),
    /** To so many made-up users. */
    made_up: v.exactOptional(wholeNumber(1, MOST)),
    priority: v.exactOptional(oneOf(...priorities)),
    /** ISO 8601. */
    send_at: v.exactOptional(filledText),
  }),
  v.check(({ to, made_up }) => (to === undefined) !== (made_up === undefined), 'must have either to or made_up'),
);

/** The body of the service's `POST /v1/message`. */
export const requestOf = ({ text, to, made_up = 0, ...options }: v.InferOutput<typeof newJob>) => ({
  to: to ?? madeUpNumbers(made_up),
  type: 'text',
  text: { body: text },
  ...options,
});
