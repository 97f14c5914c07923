/** The view Surveys. */
import { Page } from '../shell/page.tsx';
import type { ViewProps } from '../views.ts';
import { shell } from '../words/shell.ts';

export const Surveys = (_: ViewProps) => <Page title={shell.views.surveys}>{null}</Page>;
