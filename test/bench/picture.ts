/** Parts of pictures for the documentation, as SVG. */

/** Colours of the site for both themes; without the site, the light ones. */
export const colours = {
  back: 'var(--sunken, #f8f9fa)',
  line: 'var(--line, #e4e7ec)',
  text: 'var(--text, #14171c)',
  quiet: 'var(--text-2, #47505e)',
};

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

export const textAt = (x: number, y: number, text: string, more = ''): string =>
  `<text x="${x}" y="${y}" ${more}>${escaped(text)}</text>`;

export const framed = (width: number, height: number, title: string, parts: string[]): string =>
  [
    `<svg viewBox="0 0 ${width} ${height}" xmlns="http://www.w3.org/2000/svg" font-family="Inter, system-ui, sans-serif" font-size="11" fill="${colours.text}">`,
    `<title>${escaped(title)}</title>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="${colours.back}" stroke="${colours.line}"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
