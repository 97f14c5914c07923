/** The view Webhooks. */
import { Page } from '../shell/page.tsx';
import type { ViewProps } from '../views.ts';
import { shell } from '../words/shell.ts';

export const Webhooks = (_: ViewProps) => <Page title={shell.views.webhooks}>{null}</Page>;
