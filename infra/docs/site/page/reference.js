/** The reference: Swagger UI over the description, trying requests out where there is a service to try them on. */

const service = await (await fetch('service.json')).json();
const description = await (await fetch('openapi.json')).json();

const APP_EVENTS = /\/v1\/app\/events$/;

/** The events of the app network need its own token. It replaces the demo's token only, not one that people enter. */
const withToken = (request) => {
  const { token, app_token } = service.try;
  const isDemo = request.headers.Authorization === `Bearer ${token}`;
  if (isDemo && APP_EVENTS.test(new URL(request.url).pathname)) request.headers.Authorization = `Bearer ${app_token}`;
  return request;
};

/** The bridge is another origin, and so is the API by another name of this machine: the page's own host leads to both. */
const throughHere = (request) => {
  const { base_url, bridge_url, try: tried } = service;
  if (request.url.startsWith(bridge_url)) {
    request.url = location.origin + tried.bridge + request.url.slice(bridge_url.length);
  } else if (request.url.startsWith(base_url)) {
    request.url = location.origin + request.url.slice(base_url.length);
  }
  return request;
};

/** Prepares a request: what its example names exists, also after another operation has ended it. */
const prepare = async (request) => {
  if (service.try === undefined) return request;
  await fetch(service.try.examples, { method: 'POST' });
  return throughHere(withToken(request));
};

/** Paths stand in buttons, and a link in a button is reached by nobody's keyboard. */
const plainPaths = () => ({
  wrapComponents: {
    DeepLink:
      (_original, { React }) =>
      ({ text }) =>
        React.createElement('span', null, text),
  },
});

const LANGUAGE = 'language-of-samples';

/** Shows the samples of an operation (`x-codeSamples`) before its parameters, in the language that was chosen last. */
const codeSamples = () => ({
  wrapComponents: {
    parameters: (Original, { React }) => {
      const create = React.createElement;
      const Samples = ({ samples }) => {
        const [chosen, choose] = React.useState(localStorage.getItem(LANGUAGE));
        const shown = samples.find(({ lang }) => lang === chosen) ?? samples[0];
        const tab = ({ lang, label = lang }) =>
          create(
            'button',
            {
              key: lang,
              type: 'button',
              'aria-pressed': lang === shown.lang,
              onClick: () => {
                localStorage.setItem(LANGUAGE, lang);
                choose(lang);
              },
            },
            label,
          );
        const copy = create(
          'button',
          { type: 'button', className: 'copy-sample', onClick: () => navigator.clipboard.writeText(shown.source) },
          'Copy',
        );
        const languages = create('div', { role: 'group', 'aria-label': 'Language of the sample' }, samples.map(tab));
        return create('div', { className: 'samples' }, languages, copy, create('pre', { tabIndex: 0 }, shown.source));
      };
      return (props) => {
        const samples = props.operation?.get('x-codeSamples')?.toJS() ?? [];
        const parameters = create(Original, props);
        return samples.length === 0 ? parameters : create('div', null, create(Samples, { samples }), parameters);
      };
    },
  },
});

/** Names fields that Swagger UI leaves without one, and lets the keyboard scroll what is wide. */
const nameFields = (root) => {
  const names = {
    'textarea.body-param__text': 'Body of the request',
    'select.examples-select-element': 'Example',
    'select.content-type': 'Content type',
    '.servers select': 'Server',
    '.parameters-col_description select': 'Value',
    '.parameters-col_description input': 'Value',
  };
  for (const [selector, name] of Object.entries(names)) {
    for (const field of root.querySelectorAll(`${selector}:not([aria-label])`)) {
      const row = field.closest('tr[data-param-name]');
      field.setAttribute('aria-label', row ? row.dataset.paramName : name);
    }
  }
  for (const block of root.querySelectorAll('pre.microlight:not([tabindex])')) block.tabIndex = 0;
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

const file = service.try && (await picture());

/** Chooses the picture in file fields that appear. People can choose another file. */
const fillFiles = (root) => {
  if (file === undefined) return;
  for (const field of root.querySelectorAll('input[type="file"]:not([data-filled])')) {
    field.dataset.filled = 'true';
    const files = new DataTransfer();
    files.items.add(file);
    field.files = files.files;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  }
};

const root = document.getElementById('reference');
new MutationObserver(() => {
  nameFields(root);
  fillFiles(root);
}).observe(root, { childList: true, subtree: true });

const ui = window.SwaggerUIBundle({
  spec: description,
  domNode: root,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 4,
  displayRequestDuration: true,
  syntaxHighlight: { activated: false },
  tryItOutEnabled: service.try !== undefined,
  supportedSubmitMethods: service.try === undefined ? [] : ['get', 'put', 'post', 'patch', 'delete', 'head'],
  validatorUrl: null,
  showMutatedRequest: false,
  requestInterceptor: prepare,
  plugins: [plainPaths, codeSamples],
  onComplete: () => {
    if (service.try) ui.preauthorizeApiKey('token', service.try.token);
    root.dataset.ready = 'true';
  },
});

// Links of the sidebar and of the search lead to operations of this page.
addEventListener('hashchange', () => ui.getSystem().layoutActions.parseDeepLinkHash(location.hash));
