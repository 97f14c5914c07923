/** The view Developers. */
import { Page } from '../shell/page.tsx';
import type { ViewProps } from '../views.ts';
import { shell } from '../words/shell.ts';

export const Developers = (_: ViewProps) => <Page title={shell.views.developers}>{null}</Page>;
