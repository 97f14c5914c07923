import { render } from 'preact';
import { App } from './app.tsx';
import { keepFocus } from './shell/focus.ts';

const place = document.getElementById('app');
if (place) {
  keepFocus();
  render(<App />, place);
}
