/** The theme: that of the system, until the user chooses the other one. */
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icons.tsx';

type Theme = 'light' | 'dark';

const KEY = 'theme';
const DARK = '(prefers-color-scheme: dark)';

const storedTheme = (): Theme | undefined => {
  const stored = localStorage.getItem(KEY);
  return stored === 'light' || stored === 'dark' ? stored : undefined;
};

export const ThemeButton = () => {
  const [chosen, setChosen] = useState(storedTheme);
  const [system, setSystem] = useState<Theme>(matchMedia(DARK).matches ? 'dark' : 'light');
  useEffect(() => {
    const query = matchMedia(DARK);
    const look = () => setSystem(query.matches ? 'dark' : 'light');
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, []);
  useEffect(() => {
    if (chosen === undefined) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
  }, [chosen]);
  const next = (chosen ?? system) === 'dark' ? 'light' : 'dark';
  const change = () => {
    // The system's own theme needs no choice, so that the page follows the system again.
    if (next === system) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
    setChosen(next === system ? undefined : next);
  };
  return (
    <button type="button" class="icon-button" title={`Use the ${next} theme`} onClick={change}>
      <Icon name={next === 'dark' ? 'moon' : 'sun'} />
      <span class="unseen">Use the {next} theme</span>
    </button>
  );
};
