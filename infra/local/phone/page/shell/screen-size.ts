/** What the browser shows of the page. */
import { useEffect, useState } from 'preact/hooks';

/** From this width on, the page shows phone and console beside each other. */
const WIDE = '(min-width: 64rem)';

export const useWide = (): boolean => useMedia(WIDE);

/** Whether a media query matches. */
export const useMedia = (media: string): boolean => {
  const [matches, setMatches] = useState(matchMedia(media).matches);
  useEffect(() => {
    const query = matchMedia(media);
    const look = () => setMatches(query.matches);
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, [media]);
  return matches;
};

/** Whether the page is visible. */
export const useVisible = (): boolean => {
  const [visible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const look = () => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return visible;
};
