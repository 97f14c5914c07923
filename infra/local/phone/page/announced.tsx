/** A region whose news screen readers announce. */
import { useEffect, useState } from 'preact/hooks';
import { newAnnouncer } from './data/announcements.ts';

export const Announced = ({ news }: { news: string }) => {
  const [said, setSaid] = useState('');
  const [announcer] = useState(() => newAnnouncer(setSaid));
  useEffect(() => announcer.announce(news), [news]);
  useEffect(() => announcer.stop, []);
  return (
    <span class="unseen" role="status">
      {said}
    </span>
  );
};
