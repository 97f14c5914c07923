/** The views: a view's code is loaded when it is opened, and it is shown if the token may call one of its endpoints. */
import type { ComponentType } from 'preact';
import type { EndpointName } from '../../shared/api/index.ts';
import type { IconName } from '../web/icons.tsx';
import type { Route } from './router.ts';
import type { Session } from './session.ts';
import type { shell } from './words/shell.ts';

export interface ViewProps {
  route: Route;
  session: Session;
}

export interface View {
  id: keyof typeof shell.views;
  icon: IconName;
  /** Without one of these endpoints, the view has nothing to show. */
  needs: EndpointName[];
  load: () => Promise<ComponentType<ViewProps>>;
}

export const views: View[] = [
  { id: 'home', icon: 'home', needs: ['listJobs'], load: async () => (await import('./home/home.tsx')).Home },
  {
    id: 'messages',
    icon: 'chat',
    needs: ['listLogs'],
    load: async () => (await import('./messages/messages.tsx')).Messages,
  },
  {
    id: 'campaigns',
    icon: 'campaign',
    needs: ['sendMessage', 'listJobs'],
    load: async () => (await import('./campaigns/campaigns.tsx')).Campaigns,
  },
  {
    id: 'surveys',
    icon: 'survey',
    needs: ['listProfilers'],
    load: async () => (await import('./surveys/surveys.tsx')).Surveys,
  },
  {
    id: 'people',
    icon: 'people',
    needs: ['startUserDataRequest'],
    load: async () => (await import('./people/people.tsx')).People,
  },
  {
    id: 'webhooks',
    icon: 'webhook',
    needs: ['listWebhooks', 'listDeliveries'],
    load: async () => (await import('./webhooks/webhooks.tsx')).Webhooks,
  },
  {
    id: 'developers',
    icon: 'terminal',
    needs: ['listTokens', 'sendMessage'],
    load: async () => (await import('./developers/developers.tsx')).Developers,
  },
  {
    id: 'settings',
    icon: 'settings',
    needs: ['readConfiguration', 'listHistory'],
    load: async () => (await import('./settings/settings.tsx')).Settings,
  },
];
