/** The square avatar of a business. Its colour depends on the id. */
const HUES = ['c', 'a', 'b'];

export const BusinessAvatar = ({ id, name }: { id: string; name: string }) => {
  const hue = HUES[[...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % HUES.length];
  return (
    <span class={`business-avatar hue-${hue}`} aria-hidden="true">
      {name
        .split(' ')
        .map((word) => word.charAt(0).toUpperCase())
        .filter((_, place, all) => place === 0 || place === all.length - 1)
        .join('')}
    </span>
  );
};
