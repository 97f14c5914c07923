/** A call as a program. Programs name `$TOKEN`, never a token: records of calls have none. */
import type { Call } from '../../traces/views.ts';

export const languages = [
  { name: 'curl', label: 'cURL' },
  { name: 'python', label: 'Python' },
  { name: 'javascript', label: 'JavaScript' },
] as const;

export type Language = (typeof languages)[number]['name'];

export type Copied = Pick<Call, 'method' | 'origin' | 'path' | 'headers' | 'body'>;

/** Headers that clients set by themselves. */
const LEFT_OUT = ['content-length', 'user-agent', 'accept', 'transfer-encoding', 'origin', 'referer', 'priority'];

const headersOf = ({ headers }: Copied): [string, string][] =>
  Object.entries(headers).filter(([name]) => !LEFT_OUT.includes(name) && !name.startsWith('sec-'));

const TOKEN = '$TOKEN';

/** A text in single quotes for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A text for a shell, which replaces `$TOKEN` in it. */
const inShell = (text: string): string =>
  text
    .split(TOKEN)
    .map((part) => (part === '' ? '' : quoted(part)))
    .join(`"${TOKEN}"`);

const curl = (call: Copied): string =>
  [
    `curl ${call.method === 'GET' ? '' : `-X ${call.method} `}${inShell(call.origin + call.path)}`,
    ...headersOf(call).map(([name, value]) => `-H ${inShell(`${name}: ${value}`)}`),
    ...(call.body === '' ? [] : [`--data-raw ${quoted(call.body)}`]),
  ].join(' \\\n  ');

/** A text as a literal of Python or JavaScript, with the variable instead of `$TOKEN`. */
const literal = (text: string, variable: string): string =>
  text
    .split(TOKEN)
    .map((part) => JSON.stringify(part))
    .join(` + ${variable} + `)
    .replace(/^"" \+ | \+ ""$/g, '');

const python = (call: Copied): string => {
  const token = 'os.environ["TOKEN"]';
  const headers = headersOf(call).map(([name, value]) => `        ${JSON.stringify(name)}: ${literal(value, token)},`);
  return [
    'import os',
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${literal(call.origin + call.path, token)},`,
    `    method=${JSON.stringify(call.method)},`,
    '    headers={',
    ...headers,
    '    },',
    ...(call.body === '' ? [] : [`    data=${JSON.stringify(call.body)}.encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  ].join('\n');
};

const javascript = (call: Copied): string => {
  const token = 'process.env.TOKEN';
  const headers = headersOf(call).map(([name, value]) => `    ${JSON.stringify(name)}: ${literal(value, token)},`);
  return [
    `const response = await fetch(${literal(call.origin + call.path, token)}, {`,
    `  method: ${JSON.stringify(call.method)},`,
    '  headers: {',
    ...headers,
    '  },',
    ...(call.body === '' ? [] : [`  body: ${JSON.stringify(call.body)},`]),
    '});',
    'console.log(response.status, await response.text());',
  ].join('\n');
};

const writers: Record<Language, (call: Copied) => string> = { curl, python, javascript };

export const copyAs = (language: Language, call: Copied): string => writers[language](call);
