/** Avatars of businesses and users. */
import type { PhoneSummary } from '../views.ts';

const BUSINESS_HUES = ['c', 'a', 'b'];

/** The square avatar of a business. Its colour depends on the id. */
export const BusinessAvatar = ({ id, name }: { id: string; name: string }) => {
  const hue = BUSINESS_HUES[[...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % BUSINESS_HUES.length];
  return (
    <span class={`business-avatar hue-${hue}`} aria-hidden="true">
      {name
        .split(' ')
        .map((word) => word.charAt(0).toUpperCase())
        .filter((_, index, all) => index === 0 || index === all.length - 1)
        .join('')}
    </span>
  );
};

const USER_HUES = 6;

/** The round avatar of a user. Its colour depends on the number. */
export const PersonAvatar = ({ phone, name, lastName }: Pick<PhoneSummary, 'phone' | 'name' | 'lastName'>) => (
  <span class={`avatar person-${Number(phone.slice(-6)) % USER_HUES}`} aria-hidden="true">
    {name ? name.charAt(0).toUpperCase() + (lastName?.charAt(0).toUpperCase() ?? '') : phone.slice(-2)}
  </span>
);
