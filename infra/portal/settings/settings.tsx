/** The view Settings. */
import { Page } from '../shell/page.tsx';
import type { ViewProps } from '../views.ts';
import { shell } from '../words/shell.ts';

export const Settings = (_: ViewProps) => <Page title={shell.views.settings}>{null}</Page>;
