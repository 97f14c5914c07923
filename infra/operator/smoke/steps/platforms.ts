/** Chat platforms: their messages to the user, and what they receive. */
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { api } from '../../../../shared/api/index.ts';
import { type PlatformName, setups } from '../../../../shared/destinations/registry.ts';
import { checkSettings } from '../../../../shared/destinations/setup.ts';
import { settingErrors } from '../../accounts/platform.ts';
import { updateAccount } from '../../queries/accounts-admin.ts';
import { type Day, type Step, untilFound } from '../day.ts';
import { bodyOf, check, expectStatus, StepFailure } from '../http.ts';
import type { PlatformCall } from '../platform-server.ts';
import { type EventName, USER_TEXTS } from '../run.ts';
import { sendEvent, untilPosted } from './messages.ts';

/** The name of the account's channel in the chat platforms. */
const CHANNEL = 'smoke';
/** RapidPro's id of its message. */
const REFERENCE = '1';

/**
 * Where the chat platforms are. Without a server in their place, it is a path of the API host that no route has: API Gateway returns
 * 404 there.
 */
const platformUrl = ({ platformServer, baseUrl }: Day): string => platformServer?.url ?? `${baseUrl}/v1/smoke-test`;

/** Sets the chat platform of the temporary account. */
const connect = async ({ run }: Day, name: PlatformName, settings: Record<string, string>): Promise<void> => {
  const errors = settingErrors(name, settings);
  if (errors.length > 0) {
    throw new StepFailure(`${errors.join(' ')} --callback-url names an https address for the platform.`);
  }
  await updateAccount(run.account, { platform: { name, ...checkSettings(setups[name], settings) } });
};

/** Waits for a call of the service. Without a server in the platform's place there is none to wait for. */
const untilCalled = async (
  day: Day,
  expected: (call: PlatformCall) => boolean,
  what: string,
): Promise<PlatformCall | undefined> => {
  const { platformServer } = day;
  if (platformServer === undefined) return undefined;
  return untilFound(
    day,
    async () => platformServer.calls.find(expected),
    () => `${what} did not arrive at ${new URL(platformServer.url).host}`,
  );
};

/** What the app network has to say of a message, and the platform's call that reports it. */
interface Reporting {
  id: string;
  /** The event that says that the user has the message. */
  event: EventName;
  isStatus: (call: PlatformCall, status: string) => boolean;
}

/** The statuses that follow each other. A later one stands for those before: RapidPro gets only the latest of several. */
const IN_ORDER = ['sent', 'delivered', 'read'];

/**
 * Waits until the platform is notified of the states of a message. One that the app network rejects has failed. While the
 * local page is open, its phones report states as well, so a later status may arrive instead of an expected one.
 *
 * @returns the statuses in words
 */
const untilReported = async (day: Day, { id, event, isStatus }: Reporting): Promise<string | undefined> => {
  const accepted = day.withoutAppNetwork ? undefined : (await untilPosted(day, id)).accepted;
  const reported: string[] = [];
  const expectReport = async (status: string): Promise<void> => {
    const expected = IN_ORDER.includes(status) ? IN_ORDER.slice(IN_ORDER.indexOf(status)) : [status];
    await untilCalled(day, (call) => expected.some((one) => isStatus(call, one)), `the status "${status}"`);
    reported.push(status);
  };
  if (accepted !== undefined) await expectReport(accepted ? 'sent' : 'failed');
  await sendEvent(day, event, { type: 'message.state', data: { id, state: 'delivered_to_user' } });
  if (accepted === true) await expectReport('delivered');
  return day.platformServer === undefined || reported.length === 0 ? undefined : `received ${reported.join(', ')}`;
};

/** The user writes to the bot: in the app, or by the request for a test message. */
const writeTest = async ({ hosts, run, tokens }: Day, text: string): Promise<void> => {
  const body = { message: { type: 'text', from: run.user, text: { body: text } } };
  const sent = await hosts.bridge({ method: 'POST', path: `/webhook/${run.bot}`, token: tokens.bridge, body });
  bodyOf(sent, api.receiveTestMessage.responses[200]);
};

const words = (...parts: (string | undefined)[]): string | undefined =>
  parts.filter((part) => part !== undefined).join('; ') || undefined;

export const chatPlatforms = {
  rapidpro: {
    title: 'RapidPro sends a message, with and without the final slash',
    needs: ['user'],
    run: async (day) => {
      const { hosts, run, tokens } = day;
      await connect(day, 'rapidpro', { url: `${platformUrl(day)}/c/ex/${CHANNEL}/receive` });
      const send = (path: string) => {
        const body = new URLSearchParams({
          id: REFERENCE,
          text: 'From RapidPro',
          to_no_plus: run.user,
          quick_reply: 'Yes',
        });
        // RapidPro sends the token without a scheme.
        return hosts.bridge({ method: 'POST', path, headers: { authorization: tokens.bridge }, body });
      };
      const schema = api.receiveRapidproMessage.responses[200];
      const { id } = bodyOf(await send('/v1/webhook/rapidpro/'), schema);
      const repeated = bodyOf(await send('/v1/webhook/rapidpro'), schema);
      check(id !== undefined && repeated.id === id, 'a repeat without the final slash is another message');
      expectStatus(await send('/v1/webhook/rapidpro/other'), 404);
      if (id === undefined) throw new StepFailure('the message has no id');
      const reported = await untilReported(day, {
        id,
        event: 'rapidpro',
        isStatus: ({ path, body }, status) =>
          path === `/c/ex/${CHANNEL}/${status}` && new URLSearchParams(body).get('id') === REFERENCE,
      });
      if (day.platformServer === undefined) return words('a repeat is not sent again');
      await writeTest(day, USER_TEXTS.rapidpro);
      await untilCalled(
        day,
        ({ path, body }) =>
          path === `/c/ex/${CHANNEL}/receive` && new URLSearchParams(body).get('text') === USER_TEXTS.rapidpro,
        "the user's message",
      );
      return words('a repeat is not sent again', reported, "received the user's message");
    },
  },

  turn: {
    title: 'Turn sends a message, with the token in the path',
    needs: ['user'],
    run: async (day) => {
      const { hosts, run, tokens } = day;
      const token = randomBytes(16).toString('hex');
      await connect(day, 'turn', { url: platformUrl(day), channel: CHANNEL, token });
      const sent = await hosts.bridge({
        method: 'POST',
        path: `/v1/webhook/turn/${Buffer.from(tokens.bridge).toString('base64url')}`,
        shown: '/v1/webhook/turn/{encoded_token}',
        body: { to: `+${run.user}`, turn: { type: 'text', text: { body: 'From Turn' } } },
      });
      const [{ id } = { id: '' }] = bodyOf(sent, api.receiveTurnMessage.responses[200]).messages;
      const isCallTo = ({ path, headers }: PlatformCall, action: string): boolean =>
        path === `/v1/numbers/${CHANNEL}/${action}` && headers.authorization === `Bearer ${token}`;
      const reported = await untilReported(day, {
        id,
        event: 'turn',
        isStatus: (call, status) =>
          isCallTo(call, 'statuses') && call.body.includes(`"${id}"`) && call.body.includes(`"${status}"`),
      });
      if (day.platformServer === undefined) return undefined;
      await writeTest(day, USER_TEXTS.turn);
      await untilCalled(
        day,
        (call) => isCallTo(call, 'messages') && call.body.includes(`"${USER_TEXTS.turn}"`),
        "the user's message",
      );
      return words(reported, "received the user's message");
    },
  },

  webhook: {
    title: "A user's message and a test message reach the webhook",
    needs: ['user'],
    run: async (day) => {
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      const url = `${platformUrl(day)}/webhook`;
      await connect(day, 'webhook', { url, secret });
      const { run } = day;
      await writeTest(day, USER_TEXTS.test);
      await sendEvent(day, 'wrote', {
        type: 'message.received',
        data: { from: run.user, to: run.bot, type: 'text', text: { body: USER_TEXTS.app } },
      });
      if (day.platformServer === undefined) return untilRefused(day);
      for (const text of [USER_TEXTS.test, USER_TEXTS.app]) {
        const call = await untilCalled(
          day,
          ({ path, body }) => path === '/webhook' && body.includes(`"${text}"`),
          `the message "${text}"`,
        );
        checkSignature(secret, call);
      }
      return 'both arrived, with a valid signature';
    },
  },
} satisfies Record<string, Step>;

/**
 * Without a server in the platform's place, API Gateway responds to the worker, and the history contains that response.
 * The messages stay pending: the first one is retried, and the second one follows it.
 */
const untilRefused = async (day: Day): Promise<string> => {
  const { hosts, tokens } = day;
  const status = await untilFound(
    day,
    async () => {
      const received = await hosts.base({ path: '/v1/deliveries', token: tokens.bridge });
      const attempts = received.status === 204 ? [] : bodyOf(received, api.listDeliveries.responses[200]);
      return attempts.find(({ status_code }) => status_code !== undefined)?.status_code;
    },
    () => 'the history has no response to an attempt',
  );
  return `posted; nothing can receive them, so both stay pending after a response with ${status}`;
};

const checkSignature = (secret: string, call: PlatformCall | undefined): void => {
  const { body = '', headers = {} } = call ?? {};
  const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]);
  try {
    new Webhook(secret).verify(body, Object.fromEntries(signed));
  } catch {
    throw new StepFailure('the signature of the call is invalid');
  }
};
