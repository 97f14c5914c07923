/** The round avatar of a user. Its colour depends on the number. */
import type { PhoneSummary } from '../../views.ts';

const HUES = 6;

export const PersonAvatar = ({ phone, name, lastName }: Pick<PhoneSummary, 'phone' | 'name' | 'lastName'>) => (
  <span class={`avatar person-${Number(phone.slice(-6)) % HUES}`} aria-hidden="true">
    {name ? name.charAt(0).toUpperCase() + (lastName?.charAt(0).toUpperCase() ?? '') : phone.slice(-2)}
  </span>
);
