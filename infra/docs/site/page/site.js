/** What all pages do: theme, drawer, search, current heading, and copying of code. */
import { indexOf, searchIn } from './search.js';

const root = document.documentElement;
const find = (selector) => document.querySelector(selector);

// Theme

const systemDark = matchMedia('(prefers-color-scheme: dark)');
const themeButton = find('.theme');

const showTheme = () => {
  const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : systemDark.matches;
  themeButton.setAttribute('aria-pressed', String(isDark));
};
themeButton.addEventListener('click', () => {
  root.dataset.theme = themeButton.getAttribute('aria-pressed') === 'true' ? 'light' : 'dark';
  localStorage.setItem('theme', root.dataset.theme);
  showTheme();
});
systemDark.addEventListener('change', showTheme);
showTheme();

// Drawer

const menu = find('.menu');
const sidebar = find('.sidebar');
const shade = find('.shade');

const setDrawer = (isOpen) => {
  menu.setAttribute('aria-expanded', String(isOpen));
  sidebar.classList.toggle('shown', isOpen);
  shade.hidden = !isOpen;
};
menu.addEventListener('click', () => setDrawer(menu.getAttribute('aria-expanded') !== 'true'));
shade.addEventListener('click', () => setDrawer(false));
sidebar.addEventListener('click', ({ target }) => target.closest('a') && setDrawer(false));
sidebar.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });

// Search

const MOST = 12;
const field = find('#search');
const found = find('#found');
/** The site's folder. It is empty where addresses are relative. */
const folder = find('.brand').getAttribute('href').replace('index.html', '');
let index;

/** The index is made from the site's own file, when somebody first searches. */
const openIndex = async () => indexOf(await (await fetch(`${folder}search.json`)).json());

const element = (name, content, attributes = {}) => {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...content);
  return made;
};

/** The part of a text around the first word that is searched for. */
const excerpt = (text, terms) => {
  const at = Math.max(0, ...terms.map((term) => text.toLowerCase().indexOf(term)).filter((place) => place > 60));
  return `${at > 60 ? '… ' : ''}${text.slice(Math.max(0, at - 40), at + 80)}`;
};

const select = (chosen) => {
  for (const option of found.querySelectorAll('a')) option.setAttribute('aria-selected', String(option === chosen));
  if (chosen) field.setAttribute('aria-activedescendant', chosen.id);
  else field.removeAttribute('aria-activedescendant');
  chosen?.scrollIntoView({ block: 'nearest' });
};

const close = () => {
  found.hidden = true;
  field.setAttribute('aria-expanded', 'false');
  select(undefined);
};

const search = async () => {
  const words = field.value.trim();
  if (words === '') return close();
  index ??= openIndex();
  const results = searchIn(await index, words).slice(0, MOST);
  if (field.value.trim() !== words) return;
  found.replaceChildren(
    ...results.map(({ title, page, url, text, terms }, place) =>
      element('a', [element('b', [title]), element('span', [`${page} · ${excerpt(text, terms)}`])], {
        href: folder + url,
        role: 'option',
        id: `found-${place}`,
        'aria-selected': 'false',
      }),
    ),
    ...(results.length === 0 ? [element('p', [`Nothing found for “${words}”.`], { role: 'option' })] : []),
  );
  found.hidden = false;
  field.setAttribute('aria-expanded', 'true');
  select(found.querySelector('a'));
};

field.addEventListener('input', () => void search());
field.addEventListener('focus', () => void search());
field.addEventListener('keydown', (event) => {
  const options = [...found.querySelectorAll('a')];
  const place = options.findIndex((option) => option.getAttribute('aria-selected') === 'true');
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && options.length > 0) select(options[(place + step + options.length) % options.length]);
  else if (event.key === 'Enter') options[place]?.click();
  else if (event.key === 'Escape') close();
  else return;
  event.preventDefault();
});
document.addEventListener('click', ({ target }) => {
  if (!target.closest('.search') || target.closest('#found a')) close();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') setDrawer(false);
  const isTyping = event.target.closest('input, textarea, select, [contenteditable]');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});

// Current heading

const links = new Map([...document.querySelectorAll('.contents nav a')].map((link) => [link.hash.slice(1), link]));
const headings = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);

const showCurrent = () => {
  const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120);
  const current = passed.at(-1) ?? headings[0];
  for (const [id, link] of links) {
    if (id === current?.id) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
};
document.addEventListener('scroll', showCurrent, { passive: true });
showCurrent();

// Copying

for (const block of document.querySelectorAll('.guide pre')) {
  const button = element('button', ['Copy'], { type: 'button', class: 'copy' });
  const frame = element('div', [], { class: 'code' });
  block.replaceWith(frame);
  frame.append(block, button);
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
}
