/**
 * Serves the documentation at `/docs` of the API host, with the demo's token for trying out requests. In AWS, the hosts
 * do not serve it: an operator hosts the site elsewhere (`npm run docs`).
 */
import type { HonoRequest } from 'hono';
import { apiDescription } from '../../shared/api/openapi/description.ts';
import { buildSite, type File } from '../docs/site.ts';
import { placeholders } from '../openapi/examples.ts';
import type { Beside } from './aws/gateway/gateway.ts';
import { httpError, responseTo } from './simulators/http.ts';
import { originCheck } from './simulators/origin-check.ts';
import { listenerOf, newRoutes } from './simulators/server.ts';

interface Service {
  baseUrl: string;
  bridgeUrl: string;
  /** Values that make the examples work unchanged. */
  demo: { token: string; bot_phone_number: string; panelist: string };
}

const ROOT = '/docs';
/** Requests below this path are forwarded to the bridge host, which a page of this host cannot call. */
const BRIDGE = `${ROOT}/bridge`;

/** Serves `/docs` and the paths below it, only to programs and pages of this machine. */
export const documentation = async ({ baseUrl, bridgeUrl, demo }: Service): Promise<Beside> => {
  const service = { base_url: baseUrl, bridge_url: bridgeUrl, try: { token: demo.token, bridge: BRIDGE } };
  const site = await buildSite(service, withDemoValues(demo, apiDescription({ base: baseUrl, bridge: bridgeUrl })));

  const app = newRoutes();
  // Pages of other origins must not read the token, or call the bridge.
  app.use(originCheck);
  app.all(ROOT, (c) => c.redirect(`${ROOT}/`, 308));
  app.all(`${BRIDGE}/*`, ({ req }) =>
    forward(req, `${bridgeUrl}${req.url.slice(req.url.indexOf(BRIDGE) + BRIDGE.length)}`),
  );
  app.all(`${ROOT}/*`, ({ req }) => show(site.get(req.path.slice(ROOT.length + 1) || 'index.html')));
  app.onError((error) => responseTo(error));
  const listen = listenerOf(app.fetch);

  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return false;
    void listen(request, response);
    return true;
  };
};

/** The API description with the demo's numbers and token, and today's date, in its examples. */
const withDemoValues = ({ token, bot_phone_number, panelist }: Service['demo'], description: object): object =>
  JSON.parse(
    JSON.stringify(description)
      .replaceAll(placeholders.user, panelist)
      .replaceAll(placeholders.bot, bot_phone_number)
      .replaceAll(placeholders.encodedToken, Buffer.from(token).toString('base64url'))
      .replaceAll(placeholders.day, new Date().toISOString().slice(0, 10)),
  );

/** @throws HTTPException — 404, there is no such file */
const show = (file: File | undefined): Response => {
  if (file === undefined) throw httpError(404, `There is no such page: start at ${ROOT}.`);
  const headers = { 'content-type': file.type, 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' };
  return new Response(typeof file.body === 'string' ? file.body : Uint8Array.from(file.body), { headers });
};

/** Headers of a single connection, or of the called host: they are not forwarded. */
const HOP = new Set(['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-encoding']);

/** @throws HTTPException — 502, the bridge does not respond */
const forward = async (request: HonoRequest, url: string): Promise<Response> => {
  try {
    const headers = [...request.raw.headers].filter(([name]) => !HOP.has(name));
    const body = await request.arrayBuffer();
    const response = await fetch(url, {
      method: request.method,
      headers,
      redirect: 'manual',
      ...(body.byteLength > 0 && { body }),
    });
    const forwarded = [...response.headers].filter(([name]) => !HOP.has(name));
    const bytes = await response.bytes();
    return new Response(bytes.length > 0 ? bytes : null, { status: response.status, headers: forwarded });
  } catch {
    throw httpError(502, 'The bridge does not respond.');
  }
};
