import { useEffect, useState } from 'preact/hooks';
import { present } from '../../../../web/clock.ts';

/** The present on the stack's clock in milliseconds, again each second. */
export const usePresent = (): number => {
  const [time, setTime] = useState(present());
  useEffect(() => {
    const timer = setInterval(() => setTime(present()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return time;
};
