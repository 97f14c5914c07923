/** The view Messages. */
import { Page } from '../shell/page.tsx';
import type { ViewProps } from '../views.ts';
import { shell } from '../words/shell.ts';

export const Messages = (_: ViewProps) => <Page title={shell.views.messages}>{null}</Page>;
