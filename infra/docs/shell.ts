/** What all pages of the site share: their names, and the frame around them. */

export interface Page {
  /** Its file in the site. */
  path: string;
  title: string;
  /** The Markdown that it is made of; none, where it is the reference. */
  guide?: string;
}

export const pages: readonly [Page, ...Page[]] = [
  { path: 'index.html', title: 'Reference' },
  { path: 'business.html', title: 'For businesses', guide: 'business.md' },
  { path: 'operator.html', title: 'For operators', guide: 'operator.md' },
  { path: 'runbooks.html', title: 'Runbooks', guide: 'runbooks.md' },
  { path: 'contributor.html', title: 'For contributors', guide: 'contributor.md' },
  { path: 'load.html', title: 'Load', guide: 'load.md' },
  { path: 'security.html', title: 'Security', guide: 'security.md' },
  { path: 'failure-modes.html', title: 'Failure modes', guide: 'failure-modes.md' },
  { path: 'mutation.html', title: 'Mutation testing', guide: 'mutation.md' },
  { path: 'performance.html', title: 'Performance', guide: 'performance.md' },
  { path: 'decisions.html', title: 'Decisions', guide: 'decisions.md' },
  { path: 'glossary.html', title: 'Glossary', guide: 'glossary.md' },
];

/** What pages may load and do: what is beside them, and no more. Swagger UI styles some of its elements one by one. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'";

/** A page around this content. */
export const shell = (
  { path, title }: Page,
  content: string,
  head = '<link rel="stylesheet" href="style.css">',
) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY_POLICY}">
<meta name="color-scheme" content="light dark">
<title>${title} · Business API</title>
<link rel="icon" href="data:,">
${head}
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header class="top">
<a class="name" href="index.html">Business API</a>
<nav aria-label="Documentation">
${pages.map((page) => `<a href="${page.path}"${page.path === path ? ' aria-current="page"' : ''}>${page.title}</a>`).join('\n')}
</nav>
</header>
<div id="content" tabindex="-1">
${content}
</div>
</body>
</html>
`;
