/** A bar of all people of a campaign, by what became of their messages. */
import { figure } from '../../web/figures.ts';
import { campaigns } from '../words/campaigns.ts';
import { type Parts, partNames } from './parts.ts';

/** Screen readers get the legend, or the label. */
export const StackedBar = ({ parts }: { parts: Parts }) => (
  <span class="people-bar" aria-hidden="true">
    {partNames.map((part) => parts[part] > 0 && <span key={part} class={part} style={{ flexGrow: parts[part] }} />)}
  </span>
);

/** @param isWhole - with the parts that nobody belongs to, so that nothing moves while their numbers change */
export const Legend = ({ parts, isWhole }: { parts: Parts; isWhole: boolean }) => (
  <ul class="people-legend">
    {partNames.map(
      (part) =>
        (parts[part] > 0 || (isWhole && part !== 'stopped')) && (
          <li key={part}>
            <span class={`people-dot ${part}`} aria-hidden="true" />
            {campaigns.parts[part]} <strong>{figure(parts[part])}</strong>
          </li>
        ),
    )}
  </ul>
);
