import { bodyKinds } from './body-kinds.ts';
import { headKinds } from './head-kinds.ts';
import { INTACT, type Kind } from './kind.ts';
import { tokenKinds } from './token-kinds.ts';
import { write } from './writing.ts';

/** Requests that follow the description. */
export const intact: Kind = {
  applies: () => true,
  share: INTACT,
  make: (drafts) => drafts.map((draft) => write(draft)),
};

/** The kinds of input, by name. */
export const kinds: Record<string, Kind> = {
  'a valid request': intact,
  ...tokenKinds,
  ...headKinds,
  ...bodyKinds,
};
