/** What was changed of the account: when, what, and with which token. */
import { Chip, Empty } from '../../web/parts.tsx';
import { Time } from '../../web/text.tsx';
import type { BodyFrom } from '../client.ts';
import type { Session } from '../session.ts';
import { List, Section, Table } from '../shell/page.tsx';
import { useCall, usePages } from '../use-call.ts';
import { changeWords, settings } from '../words/settings.ts';

const words = settings.history;

type Change = NonNullable<BodyFrom<'listHistory'>>[number];

export const History = ({ session }: { session: Session }) => {
  const pages = usePages('listHistory', { query: { limit: '50' } });
  const tokens = useCall('listTokens', {});
  // Only an account that had webhooks may have some: for others, the list is an error.
  const hasWebhooks = pages.items?.some(({ type }) => type.startsWith('webhook.'));
  const webhooks = useCall('listWebhooks', hasWebhooks ? {} : undefined);
  const own = tokens.data?.find(
    ({ created, last_four }) => created === session.info.created && last_four === session.token.slice(-4),
  );
  const nameOf = ({ type, id }: Change): string => {
    if (type.startsWith('token.')) {
      const label = tokens.data?.find((token) => token.id === id)?.label;
      return label === undefined ? words.someToken : words.token(label);
    }
    const url = webhooks.data?.find((webhook) => webhook.id === id)?.url;
    return url === undefined ? words.someWebhook : words.webhook(url);
  };
  return (
    <Section title={settings.tabs.history}>
      <List
        pages={pages}
        empty={
          <Empty icon="list">
            <p>{words.empty}</p>
          </Empty>
        }
      >
        {(items) => (
          <Table
            caption={words.caption}
            items={items}
            keyOf={({ created, type, id }) => `${created}${type}${id}`}
            columns={[
              { title: words.columns.when, cell: ({ created }) => <Time at={created} as="when" /> },
              {
                title: words.columns.what,
                cell: (change) => changeWords[change.type](nameOf(change), change.fields),
              },
              {
                title: words.columns.by,
                cell: ({ token_id, token_label }) => (
                  <div class="token-name">
                    {token_label ?? words.removedToken}
                    {token_id === own?.id && <Chip tone="plain">{words.thisSession}</Chip>}
                  </div>
                ),
              },
            ]}
          />
        )}
      </List>
    </Section>
  );
};
