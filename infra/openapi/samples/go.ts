/** Samples in Go, with its standard library. */
import { ENCODED_TOKEN, type SampleRequest } from './sample-request.ts';

const text = (value: string): string => JSON.stringify(value);

/** A text over several lines. */
const raw = (value: string): string => (value.includes('`') ? text(value) : `\`${value}\``);

export const inGo = ({ method, host, target, headers, hasToken, body, savedAs }: SampleRequest): string => {
  const [before, after] = target.split(ENCODED_TOKEN);
  const tokenInPath = after === undefined ? '' : ' + base64.RawURLEncoding.EncodeToString([]byte(os.Getenv("TOKEN")))';
  const { packages, lines, value, type } = bodyOf(body);
  const imports = [
    ...packages,
    ...['io', 'log', 'net/http', 'os'],
    ...(savedAs ? [] : ['fmt']),
    ...(after === undefined ? [] : ['encoding/base64']),
  ];
  const sent = [
    ...(hasToken ? [['Authorization', '"Bearer "+os.Getenv("TOKEN")']] : []),
    ...(type === undefined ? [] : [['Content-Type', type]]),
    ...headers.map(([name, given]) => [name, text(given)]),
  ];
  return [
    'package main',
    '',
    'import (',
    ...[...new Set(imports)].sort().map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    ...lines.map((line) => `\t${line}`),
    `\trequest, err := http.NewRequest("${method}", os.Getenv("${host}")+${text(before ?? '')}${tokenInPath.replace(/^ \+ /, '+')}, ${value})`,
    ...FAIL,
    ...sent.map(([name, given]) => `\trequest.Header.Set("${name}", ${given})`),
    '\tresponse, err := http.DefaultClient.Do(request)',
    ...FAIL,
    '\tdefer response.Body.Close()',
    '\tcontent, err := io.ReadAll(response.Body)',
    ...FAIL,
    '\tif response.StatusCode >= 300 {',
    '\t\tlog.Fatal(response.Status, " ", string(content))',
    '\t}',
    ...(savedAs
      ? [`\tif err := os.WriteFile(${text(savedAs)}, content, 0o644); err != nil {`, '\t\tlog.Fatal(err)', '\t}']
      : ['\tfmt.Println(string(content))']),
    '}',
  ].join('\n');
};

const FAIL = ['\tif err != nil {', '\t\tlog.Fatal(err)', '\t}'];

interface Written {
  packages: string[];
  lines: string[];
  /** The body, as an expression. */
  value: string;
  /** The content type, as an expression. */
  type?: string;
}

const bodyOf = (body: SampleRequest['body']): Written => {
  if (body === undefined) return { packages: [], lines: [], value: 'nil' };
  if (body.type === 'json') {
    const lines = [`body := strings.NewReader(${raw(body.json)})`];
    return { packages: ['strings'], lines, value: 'body', type: '"application/json"' };
  }
  if (body.type === 'form') {
    const lines = [
      'form := url.Values{}',
      ...body.fields.map(([name, value]) => `form.Add(${text(name)}, ${text(value)})`),
    ];
    const type = '"application/x-www-form-urlencoded"';
    return { packages: ['net/url', 'strings'], lines, value: 'strings.NewReader(form.Encode())', type };
  }
  const lines = [
    'var form bytes.Buffer',
    'parts := multipart.NewWriter(&form)',
    `part, err := parts.CreateFormFile("file", ${text(body.file)})`,
    ...FAIL.map((line) => line.slice(1)),
    `bytesOfFile, err := os.ReadFile(${text(body.file)})`,
    ...FAIL.map((line) => line.slice(1)),
    'part.Write(bytesOfFile)',
    'parts.Close()',
  ];
  return { packages: ['bytes', 'mime/multipart'], lines, value: '&form', type: 'parts.FormDataContentType()' };
};
