/** What the parts of the form have in common. */
import type { Draft } from './draft.ts';
import type { DraftFaults, Written } from './message.ts';
import type { People } from './people.ts';

export interface StepProps {
  draft: Draft;
  people: People;
  written: Written;
  faults: DraftFaults;
  /** Whether what is missing is shown, too. */
  tried: boolean;
}
