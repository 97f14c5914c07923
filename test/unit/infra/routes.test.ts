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
  'ANY /parts',
  'DELETE /parts',
  'ANY /parts/{proxy+}',
  'PATCH /parts/{id}',
].map((key) => ({ key, function: key, authorizer: undefined }));

const withDefault = [{ key: '$default', function: 'other', authorizer: undefined }, ...routes];

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
  ['PUT', '/parts', 'ANY /parts', {}],
  ['DELETE', '/parts', 'DELETE /parts', {}],
  ['PATCH', '/parts/7', 'PATCH /parts/{id}', { id: '7' }],
  ['PUT', '/parts/7', 'ANY /parts/{proxy+}', { proxy: '7' }],
  ['PATCH', '/parts/7/8', 'ANY /parts/{proxy+}', { proxy: '7/8' }],
])('%s %s matches the most specific route: %s', (method, path, key, parameters) => {
  const match = matchRoute(withDefault, { method, path }, 'matches');
  expect(match?.route.key).toBe(key);
  expect(match?.parameters).toEqual(parameters);
});

const unmatched: [string, string][] = [
  ['PUT', '/things'],
  ['POST', '/things'],
  ['POST', '/hook'],
];

test.each(unmatched)('%s %s matches no route but the default one', (method, path) => {
  expect(matchRoute(routes, { method, path }, 'matches')).toBeUndefined();
  const match = matchRoute(withDefault, { method, path }, 'matches');
  expect(match).toMatchObject({ route: { key: '$default' }, parameters: {} });
});

test.each([
  ['POST', '/hook/'],
  ['PUT', '/parts/'],
  ['GET', '/'],
])('%s %s matches the default route if an empty rest does not match', (method, path) => {
  expect(matchRoute(routes, { method, path }, 'does not match')).toBeUndefined();
  expect(matchRoute(withDefault, { method, path }, 'does not match')?.route.key).toBe('$default');
});

test('a rest that is a slash is not empty', () => {
  const match = matchRoute(withDefault, { method: 'POST', path: '/hook//' }, 'does not match');
  expect(match).toMatchObject({ route: { key: 'POST /hook/{proxy+}' }, parameters: { proxy: '/' } });
});
