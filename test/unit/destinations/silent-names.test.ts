/** Host names whose DNS server never responds, beside others: a DNS server and a destination on loopback. */
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { resolver } from '../../../shared/destinations/http/addresses.ts';
import { post } from '../../../shared/destinations/http/http-client.ts';
import { DestinationServer } from '../../stack/support/destination-server.ts';

/** More than libuv's pool has threads. */
const SILENT = 12;

let destination: DestinationServer;
const server = createSocket('udp4');
const before = resolver.getServers();
const asked = new Set<string>();

/** The name in a query: labels with their lengths. */
const nameIn = (query: Buffer): string => {
  const labels: string[] = [];
  for (let at = 12; query[at] !== 0 && query[at] !== undefined; at += (query[at] ?? 0) + 1) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  }
  return labels.join('.');
};

/** A response without additional records: for IPv4, 127.0.0.1; for IPv6, no address. */
const responseTo = (query: Buffer, name: string): Buffer => {
  const end = 12 + name.length + 2 + 4;
  const isV4 = query.readUInt16BE(end - 4) === 1;
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180, 2);
  for (const [index, count] of [1, isV4 ? 1 : 0, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * index);
  const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
  return isV4 ? Buffer.concat([head, answer]) : head;
};

beforeAll(async () => {
  vi.stubEnv('ALLOW_LOOPBACK', 'true');
  destination = await DestinationServer.start();
  server.on('message', (query, { port, address }) => {
    const name = nameIn(query);
    asked.add(name);
    if (!name.startsWith('silent')) server.send(responseTo(query, name), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  resolver.setServers([`127.0.0.1:${server.address().port}`]);
});

afterAll(async () => {
  resolver.setServers(before);
  server.close();
  await destination.close();
  vi.unstubAllEnvs();
});

const postTo = (name: string) =>
  post({ url: destination.url.replace('127.0.0.1', name), headers: {}, body: '' }).then(
    ({ status }) => status,
    ({ reason }) => reason,
  );

test("names that are never resolved delay neither another customer's request nor a look-up of the table's host", async () => {
  const ended: string[] = [];
  const silent = Array.from({ length: SILENT }, async (_, index) => {
    const outcome = await postTo(`silent${index}.example.com`);
    ended.push(`silent${index}`);
    return outcome;
  });
  await expect.poll(() => asked.size).toBe(SILENT);
  expect(await postTo('quick.example.com')).toBe(204);
  // The SDK looks up the hosts of AWS in libuv's pool, whose threads are all free.
  expect((await lookup('localhost')).address).toBeDefined();
  expect(ended).toEqual([]);
  resolver.cancel();
  expect(new Set(await Promise.all(silent))).toEqual(new Set(['no_connection']));
});
