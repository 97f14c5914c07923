/** The view Home. */
import { Page } from '../shell/page.tsx';
import type { ViewProps } from '../views.ts';
import { shell } from '../words/shell.ts';

export const Home = (_: ViewProps) => <Page title={shell.views.home}>{null}</Page>;
