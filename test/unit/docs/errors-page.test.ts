import { expect, test } from 'vitest';
import { apiDescription } from '../../../shared/api/openapi/description.ts';
import { errorsPage } from '../../../shared/api/openapi/errors-page.ts';
import { problemCatalogue } from '../../../shared/core/problems.ts';

const html = errorsPage(apiDescription({ base: 'https://api.example.com', bridge: 'https://bridge.example.com' }));

test.each(Object.entries(problemCatalogue))('%s has a section with its status and what to do', (code, { status }) => {
  const [, section = ''] = html.split(`<section id="/components/responses/${code}">`);
  expect(section).toMatch(new RegExp(`^\\n<h2>${status} <code>${code}</code></h2>\\n<p>\\S.*What to do: \\S`));
});

test('the text of the description is escaped', () => {
  const description = 'Not `<b>` & "c".';
  const page = errorsPage({ openapi: '3.1.0', components: { responses: { rate_limited: { description } } } });
  expect(page).toContain('<p>Not <code>&lt;b&gt;</code> &amp; "c".</p>');
});
