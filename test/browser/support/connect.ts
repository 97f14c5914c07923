/** Accounts of a test alone, connected to a simulated platform by the server of the connect wizard. */
import { randomInt } from 'node:crypto';
import { stack } from './browser.ts';

const ask = async (method: string, path: string, body?: object) => {
  const answer = await fetch(stack.phone_url + path, { method, ...(body && { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? undefined : answer.json();
};

/** A new number of a bot. */
export const newBot = (): string => `4477009${randomInt(10_000, 100_000)}`;

/** A new account that is connected. Returns its id, which is also the name of its channel, and its bot's number. */
export const connectedAccount = async (platform: 'rapidpro' | 'turn'): Promise<{ id: string; bot: string }> => {
  const bot = newBot();
  const { id } = await ask('POST', '/accounts', { name: `Of a test ${bot}`, bot_number: bot });
  await ask('PUT', `/connections/${id}`, { platform });
  const settings = await ask('POST', `/connections/${id}/simulation`);
  await ask('POST', `/connections/${id}/checks`, { settings });
  await ask('DELETE', `/connections/${id}`);
  return { id, bot };
};
