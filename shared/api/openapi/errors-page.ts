/** The errors of the API as a page for browsers: the `type` of a problem leads to its section. */
import { problemCatalogue } from '../../core/problems.ts';
import type { ApiDescription } from './description.ts';

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Text of the description, whose only Markdown is code. */
const shown = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

const STYLE = `:root{color-scheme:light dark;color:light-dark(#14161d,#eceef5);background:light-dark(#fff,#0f1116)}
body{max-width:720px;margin:0 auto;padding:24px 16px;font:16px/1.5 system-ui,sans-serif}
h2{margin:0;font-size:1.1em;overflow-wrap:anywhere}p{margin:4px 0 0}section{padding:12px;border-radius:8px}
a{color:light-dark(#3946c4,#aab3ff)}section:target{background:light-dark(#eef0fd,#1b2044)}`;

/** The page. It loads nothing. */
export const errorsPage = ({ components }: ApiDescription): string => {
  const sections = Object.entries(problemCatalogue).map(
    ([code, { status }]) => `<section id="/components/responses/${code}">
<h2>${status} <code>${code}</code></h2>
<p>${shown(components.responses[code]?.description ?? '')}</p>
</section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors · Business API</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Errors of the API</h1>
<p>The <code>type</code> of an error leads to its section. Programs get the
<a href="openapi.json?format=json">API description</a> (OpenAPI) from this address.</p>
${sections.join('\n')}
</main>
</body>
</html>
`;
};
