import { bodyKinds } from './body-kinds.ts';
import { headKinds } from './head-kinds.ts';
import { INTACT, type Kind } from './kind.ts';
import { tokenKinds } from './token-kinds.ts';
import { write } from './writing.ts';

/** The kinds of input, by name. */
export const kinds: Record<string, Kind> = {
  'as the description says': {
    applies: () => true,
    share: INTACT,
    make: (drafts) => drafts.map((draft) => write(draft)),
  },
  ...tokenKinds,
  ...headKinds,
  ...bodyKinds,
};
