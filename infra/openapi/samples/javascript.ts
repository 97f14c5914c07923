/** Samples in JavaScript, as a module of Node.js. */
import { ENCODED_TOKEN, hasNewId, JOB, NEW_ID, type SampleRequest } from './sample-request.ts';

const indented = (lines: string, by: string): string => lines.replaceAll('\n', `\n${by}`);

/** A text in single quotes. */
const text = (value: string): string =>
  `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

/** The values that a sample computes: their names, and how. */
const computed: Record<string, { name: string; line: string }> = {
  [ENCODED_TOKEN]: {
    name: 'encodedToken',
    line: `const encodedToken = Buffer.from(process.env.TOKEN).toString('base64url');`,
  },
  [JOB]: { name: 'jobId', line: 'const jobId = process.env.JOB_ID || randomUUID();' },
};

export const inJavascript = (request: SampleRequest): string => {
  const { method, host, target, headers, hasToken, body, savedAs } = request;
  const url = [`process.env.${host}`, ...target.map((part) => computed[part]?.name ?? text(part))].join(' + ');
  const isFile = body?.type === 'file';
  const modules = [...(isFile ? ['readFile'] : []), ...(savedAs ? ['writeFile'] : [])];
  const all = [
    ...(hasToken ? [`Authorization: 'Bearer ' + process.env.TOKEN`] : []),
    ...(body?.type === 'json' ? [`'Content-Type': 'application/json'`] : []),
    ...headers.map(([name, value]) => `${text(name)}: ${value === NEW_ID ? 'randomUUID()' : text(value)}`),
  ];
  const imports = [
    ...(hasNewId(request) ? [`import { randomUUID } from 'node:crypto';`] : []),
    ...(modules.length > 0 ? [`import { ${modules.join(', ')} } from 'node:fs/promises';`] : []),
  ];
  return [
    ...(imports.length > 0 ? [...imports, ''] : []),
    ...target.flatMap((part) => computed[part]?.line ?? []),
    ...(isFile
      ? [
          'const form = new FormData();',
          `form.append('file', new Blob([await readFile('${body.file}')]), '${body.file}');`,
        ]
      : []),
    `const response = await fetch(${url}, {`,
    `  method: '${method}',`,
    ...(all.length > 0 ? [`  headers: { ${all.join(', ')} },`] : []),
    ...(body ? [`  body: ${bodyOf(body)},`] : []),
    '});',
    `if (!response.ok) throw new Error(response.status + ' ' + (await response.text()));`,
    savedAs
      ? `await writeFile('${savedAs}', Buffer.from(await response.arrayBuffer()));`
      : 'console.log(await response.text());',
  ].join('\n');
};

const bodyOf = (body: NonNullable<SampleRequest['body']>): string => {
  if (body.type === 'file') return 'form';
  if (body.type === 'json') return `JSON.stringify(${indented(body.json, '  ')})`;
  return `new URLSearchParams([${body.fields.map(([name, value]) => `[${text(name)}, ${text(value)}]`).join(', ')}])`;
};
