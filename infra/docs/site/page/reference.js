/** The reference: old links to operations, the language of samples, and *Try it*. */

// Links of the form #/Messages/sendMessage name an entry of the first page, which leads on.
const follow = () => {
  const entry = location.hash.startsWith('#/') && document.getElementById(location.hash.slice(1));
  if (entry) location.replace(entry.querySelector('a').href);
};
addEventListener('hashchange', follow);
follow();

// The language of samples

const LANGUAGE = 'language-of-samples';
const languages = [...document.querySelectorAll('input[name="language"]')];
for (const language of languages) {
  if (language.value === localStorage.getItem(LANGUAGE)) language.checked = true;
  language.addEventListener('change', () => localStorage.setItem(LANGUAGE, language.value));
}

// Try it

const TOKEN = 'token-of-requests';

/** The token of the portal, if somebody comes from it: it has the same origin. */
const portalToken = () => JSON.parse(sessionStorage.getItem('session') ?? '{}').token;
const form = document.querySelector('.try form');

const element = (name, ...content) => {
  const made = document.createElement(name);
  made.append(...content);
  return made;
};

/** Values as they stand in the page's examples, which a field shows until somebody changes it. */
const originals = new Map();

/** Replaces what the examples name by what exists: the service makes it. */
const withRealValues = async (fields) => {
  const texts = fields.map((field) => {
    const { given, shown } = originals.get(field) ?? {};
    return field.value === shown ? given : field.value;
  });
  const response = await fetch('examples', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ operation: form.dataset.operation, texts }),
  });
  if (!response.ok) throw new Error(`The example values cannot be made: ${await response.text()}`);
  const values = await response.json();
  for (const [index, field] of fields.entries()) {
    field.value = values[index];
    originals.set(field, { given: texts[index], shown: field.value });
  }
};

/** A picture, so that uploads work without choosing a file. */
const picture = async () => {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [64, 64];
  const context = canvas.getContext('2d');
  context.fillStyle = '#4350d0';
  context.fillRect(0, 0, 64, 64);
  const { promise, resolve } = Promise.withResolvers();
  canvas.toBlob(resolve, 'image/png');
  return new File([await promise], 'picture.png', { type: 'image/png' });
};

const bodyOf = async (fields) => {
  const { body } = form.dataset;
  if (body === 'json') return form.elements.body.value;
  const made = body === 'form' ? new URLSearchParams() : new FormData();
  for (const field of fields.filter(({ dataset }) => dataset.place === 'field')) {
    if (field.type === 'file') made.append(field.name, field.files[0] ?? (await picture()));
    else for (const value of field.value.split('\n').filter(Boolean)) made.append(field.name, value);
  }
  return made;
};

/** The request that the form describes. */
const requestOf = async (fields) => {
  const { method, url, body } = form.dataset;
  const of = (place) => fields.filter(({ dataset, value }) => dataset.place === place && value !== '');
  const path = of('path').reduce((all, { name, value }) => all.replace(`{${name}}`, encodeURIComponent(value)), url);
  const query = new URLSearchParams(of('query').map(({ name, value }) => [name, value]));
  const headers = new Headers(of('header').map(({ name, value }) => [name, value]));
  const token = form.elements.token?.value;
  if (token) headers.set('authorization', `Bearer ${token}`);
  if (body === 'json') headers.set('content-type', 'application/json');
  return new Request(query.size > 0 ? `${path}?${query}` : path, {
    method,
    headers,
    ...(body && { body: await bodyOf(fields) }),
  });
};

/** JSON in lines, and any other text as it is. */
const readable = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/** The body of a response: a picture as such, and a text as a text. */
const shownBody = async (response) => {
  const type = response.headers.get('content-type') ?? '';
  const bytes = await response.blob();
  if (bytes.size === 0) return [];
  if (type.startsWith('image/')) {
    const image = element('img');
    image.alt = 'The picture of the response';
    image.src = URL.createObjectURL(bytes);
    return [image];
  }
  if (!/text|json/.test(type)) return [element('p', `${bytes.size} bytes of ${type}`)];
  const block = element('pre', readable(await bytes.text()));
  block.tabIndex = 0;
  return [block];
};

/** Sends the request. Returns what the page shows of the response. */
const send = async () => {
  const fields = [...form.querySelectorAll('[data-place]')];
  if ('examples' in form.dataset) await withRealValues(fields.filter(({ type }) => type !== 'file'));
  const request = await requestOf(fields);
  const started = performance.now();
  const response = await fetch(request);
  const duration = Math.round(performance.now() - started);
  const headers = element('pre', [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'));
  headers.tabIndex = 0;
  return {
    state: `${response.status} ${response.statusText}, ${duration} ms`,
    isOk: response.ok,
    parts: [element('details', element('summary', 'Headers'), headers), ...(await shownBody(response))],
  };
};

if (form) {
  const button = form.querySelector('button');
  const [state, result] = ['.state', '.result'].map((name) => form.parentElement.querySelector(name));
  const show = (text, isOk, parts = []) => {
    state.textContent = text;
    state.classList.toggle('bad', !isOk);
    result.replaceChildren(...parts);
  };
  const token = form.elements.token;
  if (token) {
    token.value = sessionStorage.getItem(TOKEN) ?? portalToken() ?? token.value;
    token.addEventListener('change', () => sessionStorage.setItem(TOKEN, token.value));
  }
  document.querySelector('#example')?.addEventListener('change', ({ target }) => {
    if (form.elements.body)
      form.elements.body.value = form.querySelectorAll('template')[target.selectedIndex].content.textContent;
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    // A button that is disabled would lose the focus.
    if (button.ariaDisabled === 'true') return;
    button.ariaDisabled = 'true';
    show('Sending…', true);
    try {
      const { state: text, isOk, parts } = await send();
      show(text, isOk, parts);
    } catch (error) {
      show(String(error), false);
    }
    button.ariaDisabled = 'false';
    result.scrollIntoView({ block: 'nearest' });
  });
}
