/** The view Campaigns: the list, the form of a new one, and one campaign. */
import type { ViewProps } from '../views.ts';
import { CampaignList } from './list.tsx';
import { Campaign } from './one.tsx';
import { Write } from './write.tsx';

export const Campaigns = ({ route: { rest }, session }: ViewProps) => {
  const [open] = rest;
  if (open === undefined) return <CampaignList session={session} />;
  if (open === 'new') return <Write session={session} />;
  return <Campaign key={open} id={open} session={session} />;
};
