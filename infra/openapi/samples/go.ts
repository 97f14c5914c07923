/** Samples in Go, with its standard library. */
import { ENCODED_TOKEN, hasNewId, JOB, NEW_ID, type SampleRequest } from './sample-request.ts';

const text = (value: string): string => JSON.stringify(value);

/** A text over several lines. */
const raw = (value: string): string => (value.includes('`') ? text(value) : `\`${value}\``);

/** The values that a sample computes, as expressions. */
const computed: Record<string, string> = {
  [ENCODED_TOKEN]: 'base64.RawURLEncoding.EncodeToString([]byte(os.Getenv("TOKEN")))',
  [JOB]: 'jobID',
};

const JOB_LINES = ['\tjobID := os.Getenv("JOB_ID")', '\tif jobID == "" {', '\t\tjobID = newID()', '\t}'];

/** A function that makes a UUID of version 4. */
const NEW_ID_FUNCTION = [
  'func newID() string {',
  '\tid := make([]byte, 16)',
  '\tif _, err := rand.Read(id); err != nil {',
  '\t\tlog.Fatal(err)',
  '\t}',
  '\tid[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80',
  '\treturn fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])',
  '}',
  '',
];

export const inGo = (request: SampleRequest): string => {
  const { method, host, target, headers, hasToken, body, savedAs } = request;
  const url = [`os.Getenv("${host}")`, ...target.map((part) => computed[part] ?? text(part))].join('+');
  const { packages, lines, value, type } = bodyOf(body);
  const imports = [
    ...packages,
    ...['io', 'log', 'net/http', 'os'],
    ...(savedAs ? [] : ['fmt']),
    ...(target.includes(ENCODED_TOKEN) ? ['encoding/base64'] : []),
    ...(hasNewId(request) ? ['crypto/rand', 'fmt'] : []),
  ];
  const sent = [
    ...(hasToken ? [['Authorization', '"Bearer "+os.Getenv("TOKEN")']] : []),
    ...(type === undefined ? [] : [['Content-Type', type]]),
    ...headers.map(([name, value]) => [name, value === NEW_ID ? 'newID()' : text(value)]),
  ];
  return [
    'package main',
    '',
    'import (',
    ...[...new Set(imports)].sort().map((name) => `\t"${name}"`),
    ')',
    '',
    ...(hasNewId(request) ? NEW_ID_FUNCTION : []),
    'func main() {',
    ...(target.includes(JOB) ? JOB_LINES : []),
    ...lines.map((line) => `\t${line}`),
    `\trequest, err := http.NewRequest("${method}", ${url}, ${value})`,
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
