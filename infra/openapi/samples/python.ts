/** Samples in Python 3, with the package requests. */
import { ENCODED_TOKEN, type SampleRequest } from './sample-request.ts';

const text = (value: string): string => JSON.stringify(value);

/** A value of JSON as Python writes it. */
const literal = (value: unknown, indent: string): string => {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const items = Array.isArray(value)
    ? value.map((one) => literal(one, inner))
    : Object.entries(value).map(([name, one]) => `${text(name)}: ${literal(one, inner)}`);
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`;
};

export const inPython = ({ method, host, target, headers, hasToken, body, savedAs }: SampleRequest): string => {
  const [before, after] = target.split(ENCODED_TOKEN);
  const url = [`os.environ["${host}"] + ${text(before ?? '')}`, ...(after === undefined ? [] : ['encoded_token'])];
  const allHeaders = [
    ...(hasToken ? ['"Authorization": "Bearer " + os.environ["TOKEN"]'] : []),
    ...headers.map(([name, value]) => `${text(name)}: ${text(value)}`),
  ];
  return [
    '# pip install requests',
    ...(after === undefined ? [] : ['import base64']),
    'import os',
    '',
    'import requests',
    '',
    ...(after === undefined
      ? []
      : ['encoded_token = base64.urlsafe_b64encode(os.environ["TOKEN"].encode()).decode().rstrip("=")', '']),
    `response = requests.${method.toLowerCase()}(`,
    `    ${url.join(' + ')},`,
    ...(allHeaders.length > 0 ? [`    headers={${allHeaders.join(', ')}},`] : []),
    ...(body ? [`    ${argumentOf(body)},`] : []),
    '    timeout=60,',
    ')',
    'if not response.ok:',
    '    raise SystemExit(f"{response.status_code} {response.text}")',
    ...(savedAs
      ? [`with open(${text(savedAs)}, "wb") as file:`, '    file.write(response.content)']
      : ['print(response.text)']),
  ].join('\n');
};

const argumentOf = (body: NonNullable<SampleRequest['body']>): string => {
  if (body.type === 'file') return `files={"file": open(${text(body.file)}, "rb")}`;
  if (body.type === 'json') return `json=${literal(JSON.parse(body.json), '    ')}`;
  return `data=[${body.fields.map(([name, value]) => `(${text(name)}, ${text(value)})`).join(', ')}]`;
};
