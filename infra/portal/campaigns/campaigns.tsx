/** The view Campaigns. */
import { Page } from '../shell/page.tsx';
import type { ViewProps } from '../views.ts';
import { shell } from '../words/shell.ts';

export const Campaigns = (_: ViewProps) => <Page title={shell.views.campaigns}>{null}</Page>;
