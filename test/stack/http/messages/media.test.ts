/**
 * Pictures, files, sounds, films and places, in both directions, on the served stack: with literal payloads of the app network,
 * RapidPro and Turn. Encrypted files are made and read as existing clients do it.
 */
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { type AccountPlatform, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { applied, message, rejected } from '../../support/app-events.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { fileOf, further, pdf, png } from '../../support/files.ts';
import { logLines } from '../../support/log-lines.ts';
import { untilShown } from '../../support/phones.ts';
import { wholeTable } from '../../support/whole-table.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

const { bridge_url } = inject('stack');

const platforms = {
  webhook: ({ url }: DestinationServer): AccountPlatform => ({
    name: 'webhook',
    settings: { url, secret: `whsec_${'A'.repeat(32)}` },
  }),
  rapidpro: ({ url }: DestinationServer): AccountPlatform => ({
    name: 'rapidpro',
    settings: { url: new URL('receive', url).href },
  }),
  turn: ({ url }: DestinationServer): AccountPlatform => ({
    name: 'turn',
    settings: { url: new URL('.', url).href, channel: 'number', token: 'token' },
  }),
};

/** An account with a bot and a platform, and a user. */
const newWorld = async (platform: keyof typeof platforms = 'webhook') => {
  const server = await DestinationServer.start();
  onTestFinished(() => server.close());
  const caller = await newCaller('messages', 'stats', 'bridge');
  const [bot, phone] = [newPhone(), newPhone()];
  await updateAccount(caller.account, { bot_number: bot, platform: platforms[platform](server) });
  const write = (data: object) =>
    applied({ id: randomUUID(), type: 'message.received', data: { from: phone, to: bot, ...data } });
  return { ...caller, bot, phone, server, write };
};

/** Encrypts a file as existing clients do: AES-256-GCM with an IV of 16 bytes, the tag at the end. */
const encrypt = (content: Uint8Array) => {
  const [iv, key] = [randomBytes(16), randomBytes(32)];
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const bytes = Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  return { bytes: Uint8Array.from(bytes), fragment: Buffer.concat([iv, key]).toString('hex') };
};

/** Reads an encrypted file by its URL, as existing clients do. */
const decrypt = async (url: string): Promise<Buffer> => {
  const [address = '', fragment = ''] = url.split('#');
  const scheme = bridge_url.split(':')[0];
  const bytes = Buffer.from(await (await fetch(address.replace('aesgcm:', `${scheme}:`))).bytes());
  const secret = Buffer.from(fragment, 'hex');
  const decipher = createDecipheriv('aes-256-gcm', secret.subarray(-32), secret.subarray(0, -32));
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]);
};

const uploadEncrypted = async ({ token }: Pick<Caller, 'token'>, content: Uint8Array<ArrayBuffer>, name: string) => {
  const form = new FormData();
  form.append('file', new File([content], name, { type: 'application/octet-stream' }));
  form.append('encrypted', 'true');
  const { status, body } = await sendRaw('uploadFile', { token, body: form });
  expect(status).toBe(200);
  return (body as { url: string }).url;
};

const aesgcm = (url: string, fragment: string): string => `${url.replace(/^https?:/, 'aesgcm:')}#${fragment}`;

const upload = async ({ token }: Pick<Caller, 'token'>, content: Uint8Array<ArrayBuffer>) =>
  (await call('uploadFile', { token, body: { file: fileOf(content) } })).body.url;

const KEY = `#${'0123456789abcdef'.repeat(6)}`;
const PICTURE = { url: 'https://files.example.com/1.jpg', mime_type: 'image/jpeg', size: 48_213, caption: 'My cow' };

const ENCRYPTED = `aesgcm://files.example.com/2.jpg${KEY}`;
const CLINIC = { latitude: -33.92, longitude: 18.42, name: 'Clinic', address: 'Main Road 1' };

/** What users send, in the words of the app network and of webhooks; as the text for RapidPro; and in Turn's shape. */
const received: { data: { type: string; [content: string]: unknown }; text: string; turn: object }[] = [
  {
    data: { type: 'image', image: PICTURE },
    text: 'My cow\nhttps://files.example.com/1.jpg',
    turn: { type: 'image', image: { link: PICTURE.url, caption: 'My cow', mime_type: 'image/jpeg' } },
  },
  {
    data: { type: 'image', image: { url: ENCRYPTED } },
    text: ENCRYPTED,
    turn: { type: 'image', image: { link: ENCRYPTED } },
  },
  {
    data: { type: 'file', file: { url: 'https://files.example.com/3', filename: 'form.pdf' } },
    text: 'https://files.example.com/3',
    turn: { type: 'document', document: { link: 'https://files.example.com/3', filename: 'form.pdf' } },
  },
  {
    data: { type: 'audio', audio: { url: 'https://files.example.com/4.ogg' } },
    text: 'https://files.example.com/4.ogg',
    turn: { type: 'audio', audio: { link: 'https://files.example.com/4.ogg' } },
  },
  {
    data: { type: 'video', video: { url: 'https://files.example.com/5.mp4' } },
    text: 'https://files.example.com/5.mp4',
    turn: { type: 'video', video: { link: 'https://files.example.com/5.mp4' } },
  },
  {
    data: { type: 'location', location: CLINIC },
    text: 'Clinic\nMain Road 1\ngeo:-33.92,18.42',
    turn: { type: 'location', location: CLINIC },
  },
];

describe('of a user', () => {
  test('each kind reaches a webhook, and is logged with its type', { tags: 'long' }, async () => {
    const { token, phone, server, write } = await newWorld();
    for (const { data } of received) await write(data);
    await expect
      .poll(() => server.calls.map(({ json }) => json))
      .toEqual(received.map(({ data }) => ({ message: { from: phone, ...data } })));
    const logs = async () => (await call('listLogs', { token, query: { contact: phone } })).body ?? [];
    await expect
      .poll(async () => (await logs()).map(({ state, payload_type }) => [state, payload_type]).reverse())
      .toEqual(received.map(({ data }) => ['received', data.type]));
  });

  test('each kind reaches RapidPro as a text', { tags: 'long' }, async () => {
    const { phone, server, write } = await newWorld('rapidpro');
    for (const { data } of received) await write(data);
    await expect
      .poll(() => server.calls.map(({ body }) => Object.fromEntries(new URLSearchParams(body))))
      .toEqual(received.map(({ text }) => ({ from: `+${phone}`, text, date: expect.any(String) })));
  });

  test("each kind reaches Turn in WhatsApp's shape", { tags: 'long' }, async () => {
    const { phone, server, write } = await newWorld('turn');
    for (const { data } of received) await write(data);
    const about = { from: `+${phone}`, id: expect.any(String), timestamp: expect.any(String) };
    await expect
      .poll(() => server.calls.map(({ json }) => json.message))
      .toEqual(received.map(({ turn }) => ({ ...turn, ...about })));
  });

  test('a reply knows its message and its quick reply', async () => {
    const [one, two] = [await newWorld(), await newWorld('turn')];
    const [in_reply_to, data] = [randomUUID(), { type: 'text', text: { body: 'Yes' } }];
    for (const { write } of [one, two]) await write({ ...data, in_reply_to, quick_reply: { index: 0 } });
    await expect
      .poll(() => one.server.calls.map(({ json }) => json.message))
      .toEqual([{ from: one.phone, ...data, in_reply_to, quick_reply: { index: 0 } }]);
    await expect
      .poll(() => two.server.calls.map(({ json }) => json.message))
      .toEqual([expect.objectContaining({ context: { id: in_reply_to } })]);
  });

  test('an invalid one is rejected, and holds back the later messages of that user only', async () => {
    const { bot, phone, server } = await newWorld();
    const event = (data: object) => ({
      id: randomUUID(),
      type: 'message.received',
      data: { from: phone, to: bot, ...data },
    });
    for (const [data, error] of [
      [{ type: 'image', image: {} }, '#/0/data/image/url is required'],
      [
        { type: 'image', image: { url: 'file:///etc/passwd' } },
        '#/0/data/image/url must be an https or aesgcm address',
      ],
      [
        { type: 'image', image: { url: 'javascript:alert(1)' } },
        '#/0/data/image/url must be an https or aesgcm address',
      ],
      [
        { type: 'location', location: { latitude: 91, longitude: 0 } },
        '#/0/data/location/latitude must be from -90 to 90',
      ],
      [{ type: 'location', location: { longitude: 0 } }, '#/0/data/location/latitude is required'],
      [
        { type: 'text', text: { body: 'Yes' }, quick_reply: { index: 10 } },
        '#/0/data/quick_reply/index must be a whole number from 0 to 9',
      ],
    ] as const) {
      const other = newPhone();
      expect(await rejected([event(data), message(other, bot)])).toEqual([error]);
      await expect.poll(() => server.calls.map(({ json }) => json.message?.from)).toContain(other);
    }
  });
});

describe('of a business', () => {
  test.each<[string, Uint8Array<ArrayBuffer>, string, string]>([
    ['a picture', png, 'image', 'image'],
    ['a sound', further['audio/mpeg'] ?? png, 'audio', 'audio'],
    ['a film', further['video/mp4'] ?? png, 'video', 'video'],
    ['a film as an image', further['video/mp4'] ?? png, 'image', 'video'],
    ['a sound as a file', further['audio/mpeg'] ?? png, 'file', 'file'],
    ['a document as an image', pdf, 'image', 'file'],
  ])('%s is shown as what it is', { tags: 'long' }, async (_, content, type, shown) => {
    const { token, phone, ...world } = await newWorld();
    const url = await upload({ token, ...world }, content);
    await call('sendMessage', { token, body: { to: phone, type, [type]: { url } } as never });
    expect((await untilShown(phone, 1))[0]?.data).toMatchObject({ type: shown, [shown]: { url } });
  });

  test('a caption is shown with its picture, to one and to many', async () => {
    const { token, phone } = await newWorld();
    const [url, other] = [await upload({ token }, png), newPhone()];
    const image = { url, caption: 'Our new clinic ☺' };
    for (const to of [phone, [phone, other]]) await call('sendMessage', { token, body: { to, type: 'image', image } });
    for (const { data } of await untilShown(phone, 2)) expect(data).toMatchObject({ type: 'image', image });
    expect((await untilShown(other, 1))[0]?.data).toMatchObject({ image });
  });

  test('a caption has at most 1,024 characters', async () => {
    const { token, phone } = await newWorld();
    const image = { url: await upload({ token }, png), caption: 'x'.repeat(1_025) };
    const refused = await fail('sendMessage', { token, body: { to: phone, type: 'image', image } });
    expect(refused.body.errors).toEqual([{ pointer: '#/image/caption', detail: 'must have at most 1024 characters' }]);
  });
});

describe('an encrypted file', () => {
  test('is uploaded, sent and read by the scripts of existing clients, and served byte for byte', async () => {
    const { token, phone } = await newWorld();
    const { bytes, fragment } = encrypt(png);
    const url = await uploadEncrypted({ token }, bytes, 'photo.JPG');
    expect(url).toMatch(new RegExp(`^${bridge_url}/media/[0-9a-f]{32}\\.JPG$`));
    const served = await fetch(url);
    expect(Object.fromEntries(served.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
    });
    expect(Buffer.from(await served.bytes()).equals(bytes)).toBe(true);
    expect((await fetch(url.replace('.JPG', ''))).status).toBe(404);
    expect((await fetch(url.replace('.JPG', '.png'))).status).toBe(404);

    const image = { url: aesgcm(url, fragment) };
    await call('sendMessage', { token, body: { to: phone, type: 'image', image } });
    const [shown] = await untilShown(phone, 1);
    expect(shown?.data).toMatchObject({ type: 'image', image });
    expect((await decrypt(image.url)).equals(png)).toBe(true);
  });

  test('may have any content and any name, and is sent as the type that the business says', async () => {
    const { token, phone } = await newWorld();
    for (const [name, extension] of [
      ['notes.docx', '.docx'],
      ['no extension', ''],
      ['a.b/../c.verylongextension', ''],
    ] as const) {
      const { bytes, fragment } = encrypt(Buffer.from('Hello'));
      const url = await uploadEncrypted({ token }, bytes, name);
      expect(url.endsWith(extension) && /\/[0-9a-f]{32}(\.docx)?$/.test(url)).toBe(true);
      await call('sendMessage', { token, body: { to: phone, type: 'file', file: { url: aesgcm(url, fragment) } } });
    }
    for (const { data } of await untilShown(phone, 3)) expect(data.type).toBe('file');
  });

  test.each([
    ['without a key', (url: string) => url.replace(/^https?:/, 'aesgcm:')],
    ['with a short key', (url: string) => aesgcm(url, '0'.repeat(86))],
    ['with a key that is no hexadecimal', (url: string) => aesgcm(url, 'x'.repeat(96))],
    ['on another host', () => `aesgcm://files.example.com/media/${'0'.repeat(32)}.jpg${KEY}`],
    ['that never existed', () => aesgcm(`${bridge_url}/media/${'0'.repeat(32)}.jpg`, KEY.slice(1))],
  ])('%s returns 422, and the error contains no key', async (_, change) => {
    const { token, phone } = await newWorld();
    const url = change(await uploadEncrypted({ token }, encrypt(png).bytes, 'photo.jpg'));
    const refused = await fail('sendMessage', { token, body: { to: phone, type: 'image', image: { url } } });
    expect(refused.body.errors).toMatchObject([{ pointer: '#/image/url' }]);
    expect(JSON.stringify(refused.body)).not.toMatch(/aesgcm:\/\/|[0-9a-f]{40}/);
  });

  test('that was not encrypted returns 422', async () => {
    const { token, phone } = await newWorld();
    const url = aesgcm(await upload({ token }, png), KEY.slice(1));
    const refused = await fail('sendMessage', { token, body: { to: phone, type: 'image', image: { url } } });
    expect(refused.body.errors?.[0]?.detail).toMatch(/^has a key, but the file is not encrypted/);
  });

  test('has a key that is stored only while its message is pending, and is in no log, list or error', {
    tags: 'long',
  }, async () => {
    const { token, phone, server, write } = await newWorld();
    const { bytes, fragment } = encrypt(png);
    const url = aesgcm(await uploadEncrypted({ token }, bytes, 'photo.jpg'), fragment);
    const image = { url };
    const headers = { 'idempotency-key': randomUUID() };
    const { id } = (await call('sendMessage', { token, headers, body: { to: phone, type: 'image', image } })).body;
    await call('sendMessage', { token, body: { to: [phone, newPhone()], type: 'image', image, priority: 'low' } });
    await untilShown(phone, 2);
    await expect.poll(async () => (await wholeTable()).filter((row) => row.includes(fragment))).toEqual([]);

    // A user's one is kept in the event that can be replayed, compressed, and nowhere else.
    await write({ type: 'image', image });
    await expect.poll(() => server.calls.map(({ json }) => json.message?.image?.url)).toContain(url);
    const lists = [
      await call('listLogs', { token, query: { contact: phone } }),
      await call('readMessage', { token, path: { id } }),
      await call('listDeliveries', { token }),
    ];
    expect(JSON.stringify(lists.map(({ body }) => body))).not.toContain(fragment);
    expect(JSON.stringify(await logLines())).not.toContain(fragment);
    await expect.poll(async () => (await wholeTable()).filter((row) => row.includes(fragment))).toEqual([]);
  });
});

describe('of RapidPro', () => {
  const send = async ({ token }: Caller, to: string, text: string, more: Record<string, string> = {}) => {
    const body = new URLSearchParams({ id: randomUUID(), text, to_no_plus: to, ...more }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await sendRaw('receiveRapidproMessage', { token, headers, body })).status).toBe(200);
  };

  test('a datafree URL alone on the last line is shown as what it is, with the text as its caption', {
    tags: 'long',
  }, async () => {
    const world = await newWorld('rapidpro');
    const [picture, document] = [await upload(world, png), await upload(world, pdf)];
    const { bytes, fragment } = encrypt(png);
    const encrypted = aesgcm(await uploadEncrypted(world, bytes, 'photo.jpg'), fragment);
    const cases: [string, object][] = [
      [`Look: ☺\n${picture}`, { type: 'image', image: { url: picture, caption: 'Look: ☺' } }],
      [`\n${picture}`, { type: 'image', image: { url: picture } }],
      [document, { type: 'file', file: { url: document } }],
      [`Two\nlines\n${document}`, { type: 'file', file: { url: document, caption: 'Two\nlines' } }],
      [`Two\n${document}\n${picture}`, { type: 'image', image: { url: picture, caption: `Two\n${document}` } }],
      [encrypted, { type: 'image', image: { url: encrypted } }],
    ];
    for (const [text, shown] of cases) {
      const to = newPhone();
      await send(world, to, text, { quick_reply: 'Yes' });
      const [message] = await untilShown(to, 1);
      const { id: _id, from: _from, to: _to, ...content } = message?.data ?? {};
      expect(content).toEqual({ ...shown, quick_replies: ['Yes'] });
    }
  });

  test('other URLs stay a part of the text', { tags: 'long' }, async () => {
    const [world, other] = [await newWorld('rapidpro'), await newWorld()];
    const [own, foreign] = [await upload(world, png), await upload(other, png)];
    const sound = await upload(world, further['audio/mpeg'] ?? png);
    // No captions: a sound has none, and others have at most 1,024 characters.
    const texts = [`Listen\n${sound}`, `${'x'.repeat(1_025)}\n${own}`];
    for (const body of [`See ${own}`, `${own}\nis here`, foreign, 'https://example.com/a.jpg', `${own}x`, ...texts]) {
      const to = newPhone();
      await send(world, to, body);
      expect((await untilShown(to, 1))[0]?.data).toMatchObject({ type: 'text', text: { body } });
    }
  });

  test('a repeat of a picture is not sent again, also after its URL has expired', async () => {
    const world = await newWorld('rapidpro');
    const [to, id] = [newPhone(), randomUUID()];
    const text = `Look\n${await upload(world, png)}`;
    await send(world, to, text, { id });
    await untilShown(to, 1);
    await send(world, to, text, { id });
    await send(world, to, 'end');
    expect((await untilShown(to, 2)).map(({ data }) => data.type)).toEqual(['image', 'text']);
  });
});
