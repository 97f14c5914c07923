/** Draws the diagrams of guides, which are texts in Mermaid, as SVG in the colours of the site. */
import { renderMermaidSVG } from 'beautiful-mermaid';

/** Draws a diagram. The first line of its text is a comment with a description: `%% …`. */
export const drawDiagram = (text: string): string => {
  const [, description = ''] = /^%% (.+)\n/.exec(text) ?? [];
  if (description === '') throw new Error(`A diagram needs a description in its first line, as "%% …": ${text}`);
  drawn += 1;
  const name = `diagram-${drawn}`;
  const svg = renderMermaidSVG(text.replace(/^%%.*\n/, ''), { transparent: true, padding: 8 })
    // Its own style loads a font from elsewhere, and its colours are those of the style sheet.
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/ style="[^"]*"/, '')
    // Ids are unique on a page.
    .replaceAll(/(id="|url\(#)(seq-|arrow)/g, `$1${name}-$2`)
    .replace('<svg ', `<svg role="img" aria-label="${escaped(description)}" `);
  return `<div class="diagram" tabindex="0">${svg}</div>\n`;
};

let drawn = 0;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
