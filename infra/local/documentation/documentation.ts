/**
 * Serves the documentation at `/docs` of the API host, with the demo's tokens for trying out requests. In AWS, the hosts
 * do not serve it: an operator hosts the site elsewhere (`npm run docs`).
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { HonoRequest } from 'hono';
import { apiDescription } from '../../../shared/api/openapi/description.ts';
import type { File, Service as Shown } from '../../docs/site/site.ts';
import { withCodeSamples } from '../../openapi/samples/code-samples.ts';
import type { Beside } from '../aws/gateway/gateway.ts';
import { httpError, responseTo } from '../simulators/http.ts';
import { originCheck } from '../simulators/origin-check.ts';
import { listenerOf, newRoutes } from '../simulators/server.ts';
import type { ExampleData, Examples } from './example-data.ts';

interface Service {
  baseUrl: string;
  bridgeUrl: string;
  /** The page with the phone. */
  phoneUrl: string;
  /** The demo account's token, and that of the app network. */
  tokens: { token: string; app_token: string };
  /** What makes the examples work unchanged. */
  examples: Pick<Examples, 'ensure'>;
}

const ROOT = '/docs';
/** Requests below this path are forwarded to the bridge host, which a page of this host cannot call. */
const BRIDGE = `${ROOT}/bridge`;
/** A POST to this path makes the examples work again. */
const EXAMPLES = `${ROOT}/examples`;

/** Serves `/docs` and the paths below it, only to programs and pages of this machine. */
export const documentation = ({ baseUrl, bridgeUrl, phoneUrl, tokens, examples }: Service): Beside => {
  const { token, app_token } = tokens;
  const tried = { token, app_token, bridge: BRIDGE, examples: EXAMPLES, phone: phoneUrl };
  const service = { base_url: baseUrl, bridge_url: bridgeUrl, try: tried };
  const description = withCodeSamples(apiDescription({ base: baseUrl, bridge: bridgeUrl }));
  // Nobody waits for the documentation when the stack starts.
  let site: Promise<Map<string, File>> | undefined;
  const fileAt = async (path: string): Promise<File | undefined> => {
    site ??= buildAside(service, description);
    return (await site).get(path);
  };

  const app = newRoutes();
  // Pages of other origins must not read the token, or call the bridge.
  app.use(originCheck);
  app.all(ROOT, (c) => c.redirect(`${ROOT}/`, 308));
  app.post(EXAMPLES, async (c) => {
    await examples.ensure();
    return c.body(null, 204);
  });
  app.get(`${ROOT}/openapi.json`, async (c) => c.json(withData(await examples.ensure(), description)));
  app.all(`${BRIDGE}/*`, ({ req }) =>
    forward(req, `${bridgeUrl}${req.url.slice(req.url.indexOf(BRIDGE) + BRIDGE.length)}`),
  );
  app.all(`${ROOT}/*`, async ({ req }) => show(await fileAt(req.path.slice(ROOT.length + 1) || 'index.html')));
  app.onError((error) => responseTo(error));
  const listen = listenerOf(app.fetch);

  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return false;
    void listen(request, response);
    return true;
  };
};

/** Builds the site in a thread, so that the API responds in the meantime. */
const buildAside = async (service: Shown, description: object): Promise<Map<string, File>> => {
  const worker = new Worker(new URL('../../docs/site/worker.ts', import.meta.url), {
    workerData: [service, description],
  });
  // A stack that ends does not wait for the site.
  worker.unref();
  const [site] = await once(worker, 'message');
  return site;
};

/** The used part of a description. */
interface Described {
  paths: Record<string, Record<string, { operationId?: string; parameters?: Parameter[] }>>;
}

interface Parameter {
  in: string;
  example?: unknown;
}

/**
 * The API description with examples that work on this stack, more than once: an idempotency key would make the second
 * request a repeat of the first.
 */
const withData = ({ texts, paths }: ExampleData, description: object): object => {
  const text = [...texts].reduce((all, [from, to]) => all.replaceAll(from, to), JSON.stringify(description));
  const described: Described = JSON.parse(text);
  for (const { operationId = '', parameters = [] } of Object.values(described.paths).flatMap(Object.values)) {
    const own = paths.get(operationId);
    for (const parameter of parameters) {
      if (parameter.in === 'header') delete parameter.example;
      if (parameter.in === 'path' && own !== undefined) parameter.example = own;
    }
  }
  return described;
};

/** @throws HTTPException — 404, there is no such file */
const show = (file: File | undefined): Response => {
  if (file === undefined) throw httpError(404, `There is no such page: start at ${ROOT}.`);
  const headers = { 'content-type': file.type, 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' };
  return new Response(file.body, { headers });
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
