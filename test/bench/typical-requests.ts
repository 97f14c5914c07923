/** A typical request for each endpoint, with items under 1 KB. */
import { randomUUID } from 'node:crypto';
import type { Demo } from '../../infra/local/demo.ts';
import type { EndpointName } from '../../shared/api/index.ts';
import { type FrontDoor, newPhone, type Sent } from './front-door.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** The body of a text message to a number. */
export const textTo = (to: string) => ({ to, type: 'text', text: { body: 'Your parcel is on its way.' } });

/** A request of Turn, with the token in its path. */
export const ofTurn = ({ token }: Demo): Sent => ({
  path: { encoded_token: Buffer.from(token).toString('base64url') },
  body: { content: 'Hello', to: `+${newPhone()}`, context: null },
});

const upload = (): Sent => {
  const body = new FormData();
  body.append('file', new File([Buffer.from(PNG, 'base64')], 'a.png'));
  return { body };
};

/** Creates the required items. Returns a factory of requests for each endpoint. */
export const typicalRequests = async (
  door: FrontDoor,
  demo: Demo,
): Promise<Record<EndpointName, () => Promise<Sent> | Sent>> => {
  const profiler = await door.newProfiler();
  const user = await door.newUser();
  const request = { reason: 'To greet', data: [{ property: 'first_name' }] };
  const day = new Date().toISOString().slice(0, 10);
  const { url } = (await door.send('uploadImage', upload())) as { url: string };
  const started = { path: { phone_number: user }, body: request };
  const { requestId } = (await door.send('startUserDataRequest', started)) as { requestId: string };
  for (let count = 0; count < 10; count += 1) await door.send('sendMessage', { body: textTo(newPhone()) });

  return {
    readApiDescription: () => ({}),
    createProfiler: () => ({ body: { question: 'Well?', options: ['yes', 'no'] } }),
    listProfilers: () => ({}),
    readProfiler: () => ({ path: { id: profiler.id } }),
    deleteProfiler: async () => ({ path: { id: (await door.newProfiler()).id } }),
    answerProfiler: async () => ({
      body: { profiler_id: profiler.id, option_id: profiler.option, phone_number: await door.newUser() },
    }),
    sendMessage: () => ({ body: textTo(newPhone()) }),
    uploadImage: upload,
    uploadFile: upload,
    readMedia: () => ({ path: { id: url.split('/').at(-1) ?? '' } }),
    receiveRapidproMessage: () => ({
      body: new URLSearchParams({ id: randomUUID(), text: 'Hello', to_no_plus: newPhone() }),
    }),
    receiveTurnMessage: () => ofTurn(demo),
    receiveTestMessage: () => ({
      path: { bot_phone_number: demo.bot_phone_number },
      body: { message: { type: 'text', from: newPhone(), text: { body: 'Hello' } } },
    }),
    receiveAppEvents: () => ({
      body: {
        id: randomUUID(),
        type: 'message.received',
        data: { from: newPhone(), to: demo.bot_phone_number, type: 'text', text: { body: 'Hello' } },
      },
    }),
    startUserDataRequest: async () => ({ path: { phone_number: await door.newUser() }, body: request }),
    fetchUserData: () => ({ path: { id: requestId } }),
    retrieveUserData: () => ({ path: { id: user }, body: { data: [{ property: 'device_platform' }] } }),
    listLogs: () => ({ query: { limit: '10' } }),
    listJobs: () => ({ query: { start_date: day, end_date: day } }),
  };
};
