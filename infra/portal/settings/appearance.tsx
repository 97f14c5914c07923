/** The name and the picture by which users see the business. */
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { Notice } from '../../web/parts.tsx';
import { spacedNumber } from '../../web/text.tsx';
import { useToast } from '../../web/toast.tsx';
import { type BodyFrom, call } from '../client.ts';
import { Failure } from '../shell/failure.tsx';
import { Facts, Section, TextField } from '../shell/page.tsx';
import { useAction } from '../use-call.ts';
import { settings } from '../words/settings.ts';

export type Configuration = BodyFrom<'readConfiguration'>['configuration'];

interface AppearanceProps {
  configuration: Configuration;
  onChange: () => void;
}

export const Appearance = ({ configuration, onChange }: AppearanceProps) => (
  <Section title={settings.name.title}>
    <div class="appearance">
      <Avatar url={configuration.avatar} onChange={onChange} />
      <div class="stack">
        <Name configuration={configuration} onChange={onChange} />
        <Facts
          facts={[
            [
              settings.name.bot,
              configuration.bot_number === null ? settings.name.noBot : spacedNumber(configuration.bot_number),
            ],
          ]}
        />
      </div>
    </div>
  </Section>
);

const Name = ({ configuration: { name, pending_name }, onChange }: AppearanceProps) => {
  const [draft, setDraft] = useState(name);
  const [tried, setTried] = useState(false);
  const toast = useToast();
  const words = settings.name;
  const ask = useAction(async (asked: string) => {
    const { body } = await call('updateAccount', { body: { name: asked } });
    toast(asked === name ? words.withdrawn : body.pending_name === undefined ? words.changed : words.asked);
    onChange();
  });
  const isMissing = draft.trim() === '';
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (!isMissing) ask.run(draft.trim());
  };
  return (
    <form class="form" noValidate onSubmit={submit}>
      {pending_name !== undefined && (
        <Notice tone="warn" title={words.pending(pending_name)}>
          <p>{words.pendingText(name)}</p>
          <div class="buttons">
            <button type="button" disabled={ask.busy} onClick={() => ask.run(name)}>
              {words.withdraw}
            </button>
          </div>
        </Notice>
      )}
      <TextField
        label={words.label}
        hint={words.hint}
        error={tried && isMissing ? words.missing : undefined}
        maxLength={100}
        autocomplete="organization"
        value={draft}
        onValue={setDraft}
      />
      <Failure error={ask.error} />
      <div class="buttons">
        <button
          type="submit"
          class="primary"
          disabled={ask.busy || draft.trim() === name || draft.trim() === pending_name}
        >
          {ask.busy ? settings.saving : words.submit}
        </button>
      </div>
    </form>
  );
};

const MAX_BYTES = 1_048_576;
const TYPES = ['image/png', 'image/jpeg', 'image/webp'];

const Avatar = ({ url, onChange }: { url: string | null; onChange: () => void }) => {
  const [chosen, setChosen] = useState<{ file: File; preview: string }>();
  const [problem, setProblem] = useState<string>();
  const toast = useToast();
  const words = settings.avatar;
  useEffect(() => () => chosen && URL.revokeObjectURL(chosen.preview), [chosen]);
  const discard = () => {
    setChosen(undefined);
    upload.forget();
  };
  const upload = useAction(async (file: File) => {
    const body = new FormData();
    body.set('file', file);
    await call('setAvatar', { body });
    setChosen(undefined);
    toast(words.done);
    onChange();
  });
  const choose = (file: File | undefined) => {
    if (file === undefined) return;
    discard();
    const wrong = TYPES.includes(file.type)
      ? file.size > MAX_BYTES
        ? words.tooLarge(file.size)
        : undefined
      : words.wrongType;
    setProblem(wrong);
    if (wrong === undefined) setChosen({ file, preview: URL.createObjectURL(file) });
  };
  const shown = chosen?.preview ?? url;
  return (
    <div class="avatar">
      {shown === null ? (
        <span class="avatar-picture none">
          <Icon name="picture" />
          <span class="unseen">{words.none}</span>
        </span>
      ) : (
        <img class="avatar-picture" src={shown} alt={chosen ? words.preview : words.alt} width="96" height="96" />
      )}
      <label class="button file-button">
        <Icon name="upload" />
        {words.choose}
        <input
          class="unseen"
          type="file"
          accept={TYPES.join(',')}
          aria-describedby="avatar-hint"
          onChange={({ currentTarget }) => {
            choose(currentTarget.files?.[0]);
            // The same file can be chosen again.
            currentTarget.value = '';
          }}
        />
      </label>
      <span class="quiet" id="avatar-hint">
        {words.hint}
      </span>
      {problem && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
      {chosen && (
        <>
          <span class="quiet">{words.chosen(chosen.file.name, chosen.file.size)}</span>
          <div class="buttons">
            <button type="button" class="primary" disabled={upload.busy} onClick={() => upload.run(chosen.file)}>
              {upload.busy ? words.uploading : words.use}
            </button>
            <button type="button" disabled={upload.busy} onClick={discard}>
              {words.discard}
            </button>
          </div>
        </>
      )}
      <Failure error={upload.error} />
    </div>
  );
};
