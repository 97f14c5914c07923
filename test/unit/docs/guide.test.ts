import { expect, test } from 'vitest';
import { errorsOf, renderGuide } from '../../../infra/docs/site/guide.ts';

const table = `
| status | \`code\` | what to do |
| ------ | -------- | ---------- |
| 404    | \`job_not_found\` | ask **support** |
| 200    |  | nothing |
`;

test('each cell has the name of its column, and tables stay tables for screen readers', () => {
  const html = renderGuide(table);
  expect(html).toContain('<table role="table">');
  expect(html).toContain('<th role="columnheader"><code>code</code></th>');
  expect(html).toContain('<td role="cell" data-column="code"><code>job_not_found</code></td>');
  expect(html).toContain('<td role="cell" data-column="what to do">ask <strong>support</strong></td>');
  expect(html).toContain('<td role="cell"></td>');
});

test('the row of an error has its code as id, and is listed', () => {
  const html = renderGuide(table);
  expect([...html.matchAll(/<tr role="row" id="(\w+)">/g)].map(([, id]) => id)).toEqual(['job_not_found']);
  expect(errorsOf(html)).toEqual([{ code: 'job_not_found', status: '404', remedy: 'ask support' }]);
});
