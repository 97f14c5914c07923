/** The view Webhooks: `#/webhooks`, `/new`, `/ID` to change one, `/deliveries`, `/deliveries/ID`. */

import { linkTo } from '../router.ts';
import { Tabs } from '../shell/tabs.tsx';
import type { ViewProps } from '../views.ts';
import { webhooks as words } from '../words/webhooks.ts';
import { Deliveries } from './deliveries.tsx';
import { DeliveryPage } from './delivery.tsx';
import { ChangeWebhook, NewWebhook } from './form.tsx';
import { WebhookList } from './list.tsx';

export const Webhooks = ({ route, session }: ViewProps) => {
  const [first, second] = route.rest;
  const manages = session.may('listWebhooks');
  const reads = session.may('listDeliveries');
  if (reads && first === 'deliveries' && second !== undefined) {
    return <DeliveryPage key={second} id={second} session={session} />;
  }
  if (manages && first === 'new') return <NewWebhook />;
  const showsDeliveries = reads && (first === 'deliveries' || !manages);
  if (manages && !showsDeliveries && first !== undefined && first !== 'deliveries') {
    return <ChangeWebhook key={first} id={first} />;
  }
  const tabs = (
    <Tabs
      label={words.tabsLabel}
      tabs={[
        ...(manages ? [{ href: linkTo('webhooks'), label: words.tabs.list, isOpen: !showsDeliveries }] : []),
        ...(reads
          ? [{ href: linkTo('webhooks', 'deliveries'), label: words.tabs.deliveries, isOpen: showsDeliveries }]
          : []),
      ]}
    />
  );
  return showsDeliveries ? (
    <Deliveries route={route} session={session} tabs={tabs} />
  ) : (
    <WebhookList session={session} tabs={tabs} />
  );
};
