/** Samples in JavaScript, as a module of Node.js. */
import { ENCODED_TOKEN, type SampleRequest } from './sample-request.ts';

const indented = (lines: string, by: string): string => lines.replaceAll('\n', `\n${by}`);

/** A text in single quotes. */
const text = (value: string): string =>
  `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

export const inJavascript = ({ method, host, target, headers, hasToken, body, savedAs }: SampleRequest): string => {
  const [path = '', afterToken] = target.split(ENCODED_TOKEN);
  const url = `process.env.${host} + ${text(path)}${afterToken === undefined ? '' : ' + encodedToken'}`;
  const isFile = body?.type === 'file';
  const modules = [...(isFile ? ['readFile'] : []), ...(savedAs ? ['writeFile'] : [])];
  const all = [
    ...(hasToken ? [`Authorization: 'Bearer ' + process.env.TOKEN`] : []),
    ...(body?.type === 'json' ? [`'Content-Type': 'application/json'`] : []),
    ...headers.map(([name, value]) => `${text(name)}: ${text(value)}`),
  ];
  return [
    ...(modules.length > 0 ? [`import { ${modules.join(', ')} } from 'node:fs/promises';`, ''] : []),
    ...(afterToken === undefined ? [] : [`const encodedToken = Buffer.from(process.env.TOKEN).toString('base64url');`]),
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
