/** The view People. */
import { Page } from '../shell/page.tsx';
import type { ViewProps } from '../views.ts';
import { shell } from '../words/shell.ts';

export const People = (_: ViewProps) => <Page title={shell.views.people}>{null}</Page>;
