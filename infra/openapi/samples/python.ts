/** Samples in Python 3, with the package requests. */
import { ENCODED_TOKEN, hasNewId, JOB, NEW_ID, type SampleRequest } from './sample-request.ts';

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

/** The values that a sample computes: their names, and how. */
const computed: Record<string, { name: string; line: string }> = {
  [ENCODED_TOKEN]: {
    name: 'encoded_token',
    line: 'encoded_token = base64.urlsafe_b64encode(os.environ["TOKEN"].encode()).decode().rstrip("=")',
  },
  [JOB]: { name: 'job_id', line: 'job_id = os.environ.get("JOB_ID") or str(uuid.uuid4())' },
};

export const inPython = (request: SampleRequest): string => {
  const { method, host, target, headers, hasToken, body, savedAs } = request;
  const url = [`os.environ["${host}"]`, ...target.map((part) => computed[part]?.name ?? text(part))];
  const lines = target.flatMap((part) => computed[part]?.line ?? []);
  const allHeaders = [
    ...(hasToken ? ['"Authorization": "Bearer " + os.environ["TOKEN"]'] : []),
    ...headers.map(([name, value]) => `${text(name)}: ${value === NEW_ID ? 'str(uuid.uuid4())' : text(value)}`),
  ];
  return [
    '# pip install requests',
    ...(target.includes(ENCODED_TOKEN) ? ['import base64'] : []),
    'import os',
    ...(hasNewId(request) ? ['import uuid'] : []),
    '',
    'import requests',
    '',
    ...(lines.length > 0 ? [...lines, ''] : []),
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
