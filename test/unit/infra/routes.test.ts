import { expect, test } from 'vitest';
import { matchRoute } from '../../../infra/local/aws/gateway/routes.ts';

const routes = [
  'GET /things',
  'GET /things/{id}',
  'GET /things/{id}/parts',
  'GET /things/all',
  'POST /hook/{proxy+}',
  'POST /hook/known',
  'GET /{proxy+}',
].map((key) => ({ key, function: key, authorizer: undefined }));

test.each([
  ['GET', '/things', 'GET /things', {}],
  ['GET', '/things/7', 'GET /things/{id}', { id: '7' }],
  ['GET', '/things/all', 'GET /things/all', {}],
  ['GET', '/things/7/parts', 'GET /things/{id}/parts', { id: '7' }],
  ['GET', '/things/a%2Fb%20c', 'GET /things/{id}', { id: 'a/b c' }],
  ['GET', '/things/%zz', 'GET /things/{id}', { id: '%zz' }],
  ['POST', '/hook/', 'POST /hook/{proxy+}', { proxy: '' }],
  ['POST', '/hook/a/b', 'POST /hook/{proxy+}', { proxy: 'a/b' }],
  ['POST', '/hook/known', 'POST /hook/known', {}],
  ['GET', '/things/', 'GET /{proxy+}', { proxy: 'things/' }],
])('%s %s matches the most specific route: %s', (method, path, key, parameters) => {
  const match = matchRoute(routes, method, path);
  expect(match?.route.key).toBe(key);
  expect(match?.parameters).toEqual(parameters);
});

test.each([
  ['PUT', '/things'],
  ['POST', '/things'],
  ['POST', '/hook'],
])('%s %s matches no route', (method, path) => {
  expect(matchRoute(routes, method, path)).toBeUndefined();
});
