/** Adding and changing a webhook. */
import { useState } from 'preact/hooks';
import { subscribedTypes } from '../../../shared/destinations/endpoint-settings.ts';
import { Empty, Skeleton } from '../../web/parts.tsx';
import { useToast } from '../../web/toast.tsx';
import { type BodyFrom, call } from '../client.ts';
import { go, linkTo } from '../router.ts';
import { Once } from '../shell/code.tsx';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Page, Section, Select, TextField } from '../shell/page.tsx';
import { useAction, useCall } from '../use-call.ts';
import { shell } from '../words/shell.ts';
import { eventWords, webhooks as words } from '../words/webhooks.ts';

type Webhook = NonNullable<BodyFrom<'listWebhooks'>>[number];
type EventType = (typeof subscribedTypes)[number];

interface Draft {
  url: string;
  description: string;
  /** `undefined` for all. */
  types: EventType[] | undefined;
  version: 1 | 2;
}

const back = { href: linkTo('webhooks'), label: shell.views.webhooks };

export const NewWebhook = () => {
  const [secret, setSecret] = useState<string>();
  const add = useAction(async ({ url, description, types }: Draft) => {
    const { body } = await call('createWebhook', {
      body: { url, ...(description !== '' && { description }), ...(types && { types }) },
    });
    setSecret(body.secret);
  });
  return (
    <Page title={words.add} back={back}>
      <Section title={words.form.about}>
        <WebhookForm
          draft={{ url: '', description: '', types: undefined, version: 2 }}
          submit={words.add}
          busy={add.busy}
          error={add.error}
          onSubmit={add.run}
        />
      </Section>
      {secret !== undefined && (
        <Once
          title={words.secretTitle}
          secret={secret}
          copy={words.copySecret}
          warning={words.secretOnce}
          onClose={() => go(linkTo('webhooks'), { replace: true })}
        >
          {words.secretUse}
        </Once>
      )}
    </Page>
  );
};

export const ChangeWebhook = ({ id }: { id: string }) => {
  const { data, error, loading, reload } = useCall('listWebhooks', {});
  const webhook = data?.find((one) => one.id === id);
  return (
    <Page title={words.changeTitle} back={back}>
      <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      {webhook ? (
        <Section title={words.form.about}>
          <Change webhook={webhook} />
        </Section>
      ) : loading ? (
        <Skeleton rows={4} />
      ) : (
        error === undefined && (
          <Empty icon="webhook">
            <p>{words.notFound}</p>
            <ButtonLink href={linkTo('webhooks')}>{words.toList}</ButtonLink>
          </Empty>
        )
      )}
    </Page>
  );
};

const Change = ({ webhook }: { webhook: Webhook }) => {
  const toast = useToast();
  const change = useAction(async ({ url, description, types, version }: Draft) => {
    await call('updateWebhook', {
      path: { webhook_id: webhook.id },
      body: {
        ...(url !== webhook.url && { url }),
        ...(version !== webhook.version && { version }),
        types: types ?? null,
        description: description === '' ? null : description,
      },
    });
    toast(words.changedToast);
    go(linkTo('webhooks'));
  });
  return (
    <WebhookForm
      draft={{
        url: webhook.url,
        description: webhook.description ?? '',
        types: webhook.types,
        version: webhook.version,
      }}
      submit={words.save}
      busy={change.busy}
      error={change.error}
      onSubmit={change.run}
      hasVersion={webhook.version === 1}
    />
  );
};

interface FormProps {
  draft: Draft;
  submit: string;
  busy: boolean;
  error: unknown;
  onSubmit: (draft: Draft) => void;
  /** Whether the form of the events can be chosen: only a webhook of an operator has another one than the newest. */
  hasVersion?: boolean;
}

const WebhookForm = ({ draft: given, submit, busy, error, onSubmit, hasVersion = false }: FormProps) => {
  const [draft, setDraft] = useState(given);
  const [tried, setTried] = useState(false);
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const { url, description, types, version } = draft;
  const lacksUrl = url.trim() === '';
  const lacksType = types?.length === 0;
  const send = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (!lacksUrl && !lacksType) onSubmit({ ...draft, url: url.trim(), description: description.trim() });
  };
  return (
    <form class="form" noValidate onSubmit={send}>
      <TextField
        label={words.form.url}
        hint={words.form.urlHint}
        error={tried && lacksUrl ? words.form.urlMissing : undefined}
        type="url"
        inputMode="url"
        autocomplete="off"
        spellcheck={false}
        placeholder="https://"
        maxLength={1_000}
        value={url}
        onValue={(value) => set({ url: value })}
      />
      <TextField
        label={words.form.description}
        hint={words.form.descriptionHint}
        maxLength={200}
        value={description}
        onValue={(value) => set({ description: value })}
      />
      <fieldset class="field">
        <legend>{words.form.types}</legend>
        <label class="choice">
          <input type="radio" name="types" checked={types === undefined} onChange={() => set({ types: undefined })} />
          {words.form.all}
        </label>
        <label class="choice">
          <input
            type="radio"
            name="types"
            checked={types !== undefined}
            onChange={() => set({ types: given.types ?? [] })}
          />
          {words.form.some}
        </label>
        {types && (
          <div class="inner-choices">
            {subscribedTypes.map((type) => (
              <label key={type} class="choice">
                <input
                  type="checkbox"
                  checked={types.includes(type)}
                  onChange={({ currentTarget }) =>
                    set({
                      types: currentTarget.checked ? [...types, type] : types.filter((other) => other !== type),
                    })
                  }
                />
                <span>
                  {eventWords[type]} <code class="quiet">{type}</code>
                </span>
              </label>
            ))}
          </div>
        )}
        {tried && lacksType && (
          <span class="problem" role="alert">
            {words.form.noType}
          </span>
        )}
      </fieldset>
      {hasVersion && (
        <Select
          label={words.version}
          hint={words.form.versionHint}
          value={version}
          onValue={(value) => set({ version: value === '1' ? 1 : 2 })}
        >
          <option value="1">{words.versions[1]}</option>
          <option value="2">{words.versions[2]}</option>
        </Select>
      )}
      <Failure error={error} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy}>
          {busy ? words.saving : submit}
        </button>
        <ButtonLink href={linkTo('webhooks')}>{shell.cancel}</ButtonLink>
      </div>
    </form>
  );
};
