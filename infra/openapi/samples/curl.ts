/** Samples for a shell with curl. */
import { ENCODED_TOKEN, hasNewId, JOB, NEW_ID, type SampleRequest } from './sample-request.ts';

/** macOS has `uuidgen`; some kinds of Linux have no such command. */
const NEW_ID_FUNCTION = 'new_id() { uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid; }';

/** The values that a sample computes, in double quotes. */
const computed: Record<string, string> = {
  [ENCODED_TOKEN]: `$(printf %s "$TOKEN" | base64 | tr -d '=\\n' | tr '+/' '-_')`,
  [JOB]: `\${JOB_ID:-$(new_id)}`,
};

/** A text in single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const headerOf = (name: string, value: string): string =>
  value === NEW_ID ? `"${name}: $(new_id)"` : quoted(`${name}: ${value}`);

export const inShell = (request: SampleRequest): string => {
  const { method, host, target, headers, hasToken, body, savedAs } = request;
  return [
    ...(hasNewId(request) ? [NEW_ID_FUNCTION, ''] : []),
    `curl --fail-with-body --silent --show-error --request ${method} \\`,
    ...(savedAs ? [`  --output ${savedAs} \\`] : []),
    ...(hasToken ? ['  --header "Authorization: Bearer $TOKEN" \\'] : []),
    ...headers.map(([name, value]) => `  --header ${headerOf(name, value)} \\`),
    ...(body ? optionsOf(body).map((option) => `  ${option} \\`) : []),
    `  "$${host}${target.map((part) => computed[part] ?? part).join('')}"`,
  ].join('\n');
};

const optionsOf = (body: NonNullable<SampleRequest['body']>): string[] => {
  if (body.type === 'file') return [`--form file=@${body.file}`];
  if (body.type === 'form') return body.fields.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`);
  return [`--header 'Content-Type: application/json'`, `--data ${quoted(body.json)}`];
};
