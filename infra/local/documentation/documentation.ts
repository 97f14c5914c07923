/**
 * Serves the documentation at `/docs` of the API host, as `readDocumentation` does in AWS, and with what only a local stack
 * has: the demo's tokens, example data, and requests of the page to the bridge host.
 */
import type { HonoRequest } from 'hono';
import * as v from 'valibot';
import { buildAside } from '../../docs/site/aside.ts';
import { MISSING } from '../../docs/site/navigation.ts';
import type { File } from '../../docs/site/site.ts';
import type { Beside } from '../aws/gateway/gateway.ts';
import { httpError, parseJson, responseTo } from '../simulators/http.ts';
import { originCheck } from '../simulators/origin-check.ts';
import { listenerOf, newRoutes } from '../simulators/server.ts';
import type { Examples } from './example-data.ts';

interface Service {
  baseUrl: string;
  bridgeUrl: string;
  /** The page with the phone. */
  phoneUrl: string;
  /** The demo account's token, and that of the app network. */
  tokens: { token: string; app_token: string };
  /** What makes the examples work unchanged. */
  examples: Pick<Examples, 'resolve'>;
}

const ROOT = '/docs';
/** Requests below this path are forwarded to the bridge host, which a page of this host cannot call. */
const BRIDGE = `${ROOT}/bridge`;
/** The texts of a request that somebody tries out, and its operation. */
const tried = v.object({ operation: v.string(), texts: v.array(v.string()) });

/** Serves `/docs` and the paths below it, only to programs and pages of this machine. */
export const documentation = ({ baseUrl, bridgeUrl, phoneUrl, tokens, examples }: Service): Beside => {
  const { token, app_token } = tokens;
  const service = {
    base_url: baseUrl,
    bridge_url: bridgeUrl,
    local: { token, app_token, bridge: BRIDGE, phone: phoneUrl },
  };
  // Nobody waits for the documentation when the stack starts.
  let site: Promise<Map<string, File>> | undefined;
  const fileAt = async (path: string): Promise<File | undefined> => {
    site ??= buildAside(service);
    return (await site).get(path);
  };

  const app = newRoutes();
  // Pages of other origins must not read the token, or call the bridge.
  app.use(originCheck);
  // Only a POST makes what examples name: opening a page changes nothing.
  app.post(`${ROOT}/examples`, async (c) => {
    const { success, output } = v.safeParse(tried, parseJson(await c.req.text()));
    if (!success) throw httpError(422, 'The body must have an operation, and a list of texts.');
    return c.json(await examples.resolve(output.operation, output.texts));
  });
  app.all(`${BRIDGE}/*`, ({ req }) =>
    forward(req, `${bridgeUrl}${req.url.slice(req.url.indexOf(BRIDGE) + BRIDGE.length)}`),
  );
  // Also `/docs` itself.
  app.all(`${ROOT}/*`, async ({ req }) => {
    const file = await fileAt(req.path.slice(ROOT.length + 1) || 'index.html');
    return file === undefined ? show(await fileAt(MISSING.path), 404) : show(file, 200);
  });
  app.onError((error) => responseTo(error));
  const listen = listenerOf(app.fetch);

  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return false;
    void listen(request, response);
    return true;
  };
};

/** @throws HTTPException — 404, the site has no page for missing addresses */
const show = (file: File | undefined, status: number): Response => {
  if (file === undefined) throw httpError(404, `There is no such page: start at ${ROOT}.`);
  const headers = { 'content-type': file.type, 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' };
  return new Response(file.body, { status, headers });
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
