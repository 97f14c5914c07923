/** Samples for a shell with curl. */
import { ENCODED_TOKEN, type SampleRequest } from './sample-request.ts';

const IN_BASE64URL = `$(printf %s "$TOKEN" | base64 | tr -d '=\\n' | tr '+/' '-_')`;

/** A text in single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export const inShell = ({ method, host, target, headers, hasToken, body, savedAs }: SampleRequest): string =>
  [
    `curl --fail-with-body --silent --show-error --request ${method} \\`,
    ...(savedAs ? [`  --output ${savedAs} \\`] : []),
    ...(hasToken ? ['  --header "Authorization: Bearer $TOKEN" \\'] : []),
    ...headers.map(([name, value]) => `  --header ${quoted(`${name}: ${value}`)} \\`),
    ...(body ? optionsOf(body).map((option) => `  ${option} \\`) : []),
    `  "$${host}${target.replaceAll(ENCODED_TOKEN, IN_BASE64URL)}"`,
  ].join('\n');

const optionsOf = (body: NonNullable<SampleRequest['body']>): string[] => {
  if (body.type === 'file') return [`--form file=@${body.file}`];
  if (body.type === 'form') return body.fields.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`);
  return [`--header 'Content-Type: application/json'`, `--data ${quoted(body.json)}`];
};
