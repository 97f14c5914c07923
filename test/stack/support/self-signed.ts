/** An https server with a certificate that it signed itself. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { onTestFinished } from 'vitest';

/** A value in DER: the tag, the length and the content. */
const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};

const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);
const time = (text: string): Buffer => der(0x17, Buffer.from(text));

/** Ed25519 (RFC 8410). */
const ALGORITHM = sequence(der(0x06, Buffer.from('2b6570', 'hex')));
/** The common name "test". */
const NAME = sequence(der(0x31, sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from('test')))));

/** A certificate of RFC 5280, version 1, from 2020 to 2049. */
const certificateOf = (publicKey: KeyObject, privateKey: KeyObject): string => {
  const subjectKey = publicKey.export({ type: 'spki', format: 'der' });
  const validity = sequence(time('200101000000Z'), time('491231235959Z'));
  const signed = sequence(der(0x02, Buffer.from([1])), ALGORITHM, NAME, validity, NAME, subjectKey);
  const signature = der(0x03, Buffer.from([0]), sign(null, signed, privateKey));
  const body = sequence(signed, ALGORITHM, signature).toString('base64').replaceAll(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
};

/** Starts the server until the end of the test. Returns its URL. */
export const selfSignedServer = async (): Promise<string> => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const server = createServer({ key, cert: certificateOf(publicKey, privateKey) }, (_request, response) =>
    response.writeHead(204).end(),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
};
