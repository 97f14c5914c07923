/** The reference: Swagger UI over the description, trying requests out where there is a service to try them on. */

const service = await (await fetch('service.json')).json();

/** The bridge is another origin, and so is the API by another name of this machine: the page's own host leads to both. */
const throughHere = (request) => {
  const { base_url, bridge_url, try: tried } = service;
  if (tried && request.url.startsWith(bridge_url)) {
    request.url = location.origin + tried.bridge + request.url.slice(bridge_url.length);
  } else if (tried && request.url.startsWith(base_url)) {
    request.url = location.origin + request.url.slice(base_url.length);
  }
  return request;
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

/** Names fields that Swagger UI leaves without one. */
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
};

const followColours = () => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
};

const root = document.getElementById('reference');
followColours();
new MutationObserver(() => nameFields(root)).observe(root, { childList: true, subtree: true });

const ui = window.SwaggerUIBundle({
  url: 'openapi.json',
  domNode: root,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 4,
  displayRequestDuration: true,
  syntaxHighlight: { activated: false },
  tryItOutEnabled: service.try !== undefined,
  supportedSubmitMethods: service.try === undefined ? [] : ['get', 'post', 'delete', 'head'],
  validatorUrl: null,
  showMutatedRequest: false,
  requestInterceptor: throughHere,
  plugins: [plainPaths],
  onComplete: () => {
    if (service.try) ui.preauthorizeApiKey('token', service.try.token);
    root.dataset.ready = 'true';
  },
});
