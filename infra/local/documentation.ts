/**
 * The documentation at `/docs` of the API host, where requests are tried out with the demo's token. API Gateway serves
 * nothing like it: an operator hosts the site elsewhere (`npm run docs`).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { apiDescription } from '../../shared/api/openapi/description.ts';
import { buildSite, type File } from '../docs/site.ts';
import { placeholders } from '../openapi/examples.ts';
import type { Beside } from './aws/gateway/gateway.ts';
import { HttpRefusal, replyTo, send } from './simulators/http.ts';
import { refuseStrangers } from './simulators/origin-check.ts';

interface Service {
  baseUrl: string;
  bridgeUrl: string;
  /** Whose examples can be tried out as they are. */
  demo: { token: string; bot_phone_number: string; panelist: string };
}

const ROOT = '/docs';
/** Leads to the bridge host, which a page of this host cannot call. */
const BRIDGE = `${ROOT}/bridge`;

/** Serves `/docs` and what is below it, to pages and people of this machine. */
export const documentation = async ({ baseUrl, bridgeUrl, demo }: Service): Promise<Beside> => {
  const service = { base_url: baseUrl, bridge_url: bridgeUrl, try: { token: demo.token, bridge: BRIDGE } };
  const site = await buildSite(service, tellOf(demo, apiDescription({ base: baseUrl, bridge: bridgeUrl })));

  const answer = (request: IncomingMessage, response: ServerResponse, path: string): void => {
    // A page from elsewhere must not get at the token, nor call the bridge.
    refuseStrangers(request.headers);
    if (path === ROOT) response.writeHead(308, { location: `${ROOT}/` }).end();
    else if (path.startsWith(`${BRIDGE}/`))
      void forward(request, `${bridgeUrl}${request.url?.slice(BRIDGE.length)}`, response);
    else show(site.get(path.slice(ROOT.length + 1) || 'index.html'), response);
  };

  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return false;
    try {
      answer(request, response, path);
    } catch (error) {
      send(response, replyTo(error));
    }
    return true;
  };
};

/** The description, with the demo's numbers and today in its examples. */
const tellOf = ({ token, bot_phone_number, panelist }: Service['demo'], description: object): object =>
  JSON.parse(
    JSON.stringify(description)
      .replaceAll(placeholders.user, panelist)
      .replaceAll(placeholders.bot, bot_phone_number)
      .replaceAll(placeholders.encodedToken, Buffer.from(token).toString('base64url'))
      .replaceAll(placeholders.day, new Date().toISOString().slice(0, 10)),
  );

/** @throws HttpRefusal — 404, there is no such file */
const show = (file: File | undefined, response: ServerResponse): void => {
  if (file === undefined) throw new HttpRefusal(404, `There is no such page: ${ROOT} leads to them.`);
  const headers = { 'content-type': file.type, 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' };
  response.writeHead(200, headers).end(file.body);
};

/** Headers that speak of one connection, or of the host that was called. */
const HOP = new Set(['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-encoding']);

const forward = async (request: IncomingMessage, url: string, response: ServerResponse): Promise<void> => {
  try {
    const { method = 'GET' } = request;
    const given = Object.entries(request.headersDistinct).flatMap(([name, values = []]) =>
      HOP.has(name) ? [] : values.map((value): [string, string] => [name, value]),
    );
    const body = await buffer(request);
    const answer = await fetch(url, {
      method,
      headers: given,
      redirect: 'manual',
      ...(body.length > 0 && { body: Uint8Array.from(body) }),
    });
    const taken = [...answer.headers].filter(([name]) => !HOP.has(name));
    response.writeHead(answer.status, Object.fromEntries(taken)).end(await answer.bytes());
  } catch {
    send(response, replyTo(new HttpRefusal(502, 'The bridge does not answer.')));
  }
};
