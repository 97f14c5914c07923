/** What people get: a text, a picture or a file, and quick replies. */
import { useRef } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { Notice } from '../../web/parts.tsx';
import { call } from '../client.ts';
import { Failure } from '../shell/failure.tsx';
import { Field, Section, TextField } from '../shell/page.tsx';
import { useAction } from '../use-call.ts';
import { campaigns } from '../words/campaigns.ts';
import type { Draft, MediaType } from './draft.ts';
import { change } from './memory.ts';
import { limits, maxText } from './message.ts';
import type { Person } from './people.ts';
import type { StepProps } from './step.ts';
import { lengthOf } from './template.ts';

const words = campaigns.what;

interface WhatProps extends StepProps {
  /** Shows a person in the preview. */
  onShow: (place: number) => void;
}

export const What = ({ draft, people, written, faults, tried, onShow }: WhatProps) => {
  const { text, attachment } = draft;
  const field = useRef<HTMLTextAreaElement>(null);
  const isSound = attachment?.type === 'audio';
  const first = people.people[0];
  const length = lengthOf(first ? written.text.fill(first.values) : text);
  const insert = (column: string) => {
    const { selectionStart: from = text.length, selectionEnd: to = text.length } = field.current ?? {};
    const inserted = `{${column}}`;
    change({ text: text.slice(0, from) + inserted + text.slice(to) });
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(from + inserted.length, from + inserted.length);
    });
  };
  const error = {
    blank: tried ? words.blank : undefined,
    long: words.long(maxText(draft)),
    unknown: words.unknown(faults.unknown, people.columns),
    none: undefined,
  }[faults.text ?? 'none'];
  return (
    <Section title={words.title}>
      <div class="parts">
        {isSound ? (
          <Notice tone="plain">{words.audioHint}</Notice>
        ) : (
          <div class="text-field">
            <Field
              label={attachment ? words.caption : words.text}
              hint={words.characters(length, maxText(draft))}
              error={error}
            >
              {(attributes) => (
                <textarea
                  {...attributes}
                  ref={field}
                  rows={5}
                  dir="auto"
                  autocomplete="off"
                  value={text}
                  onInput={({ currentTarget }) => change({ text: currentTarget.value })}
                />
              )}
            </Field>
            {people.columns.length > 0 && (
              <fieldset class="placeholders">
                <legend class="quiet">{words.insert}</legend>
                {people.columns.map((column) => (
                  <button type="button" key={column} class="placeholder" onClick={() => insert(column)}>
                    {`{${column}}`}
                  </button>
                ))}
              </fieldset>
            )}
          </div>
        )}
        <PeopleFaults faults={faults} people={people.people} onShow={onShow} />
        <Attach draft={draft} />
        <Replies draft={draft} faults={faults} tried={tried} />
      </div>
    </Section>
  );
};

/** What is wrong with the messages of some people, with links to them. */
const PeopleFaults = ({
  faults: { people: found, text },
  people,
  onShow,
}: Pick<StepProps, 'faults'> & { people: Person[]; onShow: (place: number) => void }) => {
  const rows = [
    ...(text === 'long'
      ? []
      : [{ tone: 'bad' as const, some: found.tooLong, sentence: words.tooLong(found.tooLong.length) }]),
    { tone: 'bad' as const, some: found.blank, sentence: words.blankFor(found.blank.length) },
    ...found.empty.map(({ column, people: some }) => ({
      ...{ tone: 'warn' as const, some, sentence: words.emptyFor(some.length, column) },
    })),
  ];
  return (
    <>
      {rows
        .filter(({ some }) => some.length > 0)
        .map(({ tone, some, sentence }) => (
          <Notice key={sentence} tone={tone}>
            <p>{sentence}</p>
            <p class="some">
              {campaigns.linesOf(some.map(({ line }) => line))}{' '}
              <button type="button" class="text-button" onClick={() => some[0] && onShow(people.indexOf(some[0]))}>
                {words.showFirst}
              </button>
            </p>
          </Notice>
        ))}
    </>
  );
};

const ACCEPTED = 'image/*,application/pdf,audio/*,video/*';

const typeOf = (file: File): MediaType => {
  const [kind] = file.type.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file';
};

const Attach = ({ draft: { attachment } }: { draft: Draft }) => {
  const upload = useAction(async (file: File) => {
    if (file.size > limits.fileBytes) throw new TooLarge(words.tooLarge);
    const body = new FormData();
    body.set('file', file);
    const reply = await call('uploadFile', { body });
    if (attachment) URL.revokeObjectURL(attachment.preview);
    change({
      attachment: {
        ...{ type: typeOf(file), name: file.name, url: reply.body.url },
        preview: URL.createObjectURL(file),
      },
    });
  });
  const remove = () => {
    if (attachment) URL.revokeObjectURL(attachment.preview);
    change({ attachment: undefined });
  };
  return (
    <div>
      {attachment ? (
        <div class="attached">
          <Icon name={attachment.type === 'image' ? 'picture' : 'file'} />
          <span class="file-name">
            {attachment.name} <span class="quiet">{words.lasts}</span>
          </span>
          <button type="button" class="icon-button" title={words.remove(attachment.name)} onClick={remove}>
            <Icon name="trash" />
            <span class="unseen">{words.remove(attachment.name)}</span>
          </button>
        </div>
      ) : (
        <div class="buttons">
          <label class="button file-button" data-busy={upload.busy}>
            <Icon name="picture" />
            {upload.busy ? words.uploading : words.attach}
            <input
              type="file"
              class="unseen"
              accept={ACCEPTED}
              aria-label={words.attached}
              disabled={upload.busy}
              onChange={({ currentTarget }) => {
                const [file] = currentTarget.files ?? [];
                if (file) upload.run(file);
                currentTarget.value = '';
              }}
            />
          </label>
          <span class="quiet">{words.attachHint}</span>
        </div>
      )}
      {upload.error instanceof TooLarge ? (
        <p class="problem" role="alert">
          {upload.error.message}
        </p>
      ) : (
        <Failure error={upload.error} />
      )}
    </div>
  );
};

/** A file that the service would not accept. */
class TooLarge extends Error {}

const Replies = ({ draft: { replies }, faults, tried }: Pick<StepProps, 'draft' | 'faults' | 'tried'>) => {
  const field = useRef<HTMLFieldSetElement>(null);
  const add = () => {
    change({ replies: [...replies, ''] });
    requestAnimationFrame(() => [...(field.current?.querySelectorAll('input') ?? [])].at(-1)?.focus());
  };
  const change1 = (place: number, text: string) =>
    change({ replies: replies.map((one, at) => (at === place ? text : one)) });
  const sentenceAt = (place: number): string | undefined => {
    const fault = faults.replies[place];
    if (fault === 'blank' && replies[place]?.trim() !== '') return words.replyBlankFor;
    if (fault === 'blank') return tried ? words.replyBlank : undefined;
    return fault && { long: words.replyLong, unknown: words.replyUnknown }[fault];
  };
  return (
    <fieldset class="replies-field" ref={field}>
      <legend>{words.replies}</legend>
      <p class="quiet">{words.repliesHint}</p>
      {replies.map((text, place) => (
        <div class="reply-row" key={place}>
          <TextField
            label={words.reply(place + 1)}
            error={sentenceAt(place)}
            dir="auto"
            value={text}
            onValue={(value) => change1(place, value)}
          />
          <button
            type="button"
            class="icon-button"
            title={words.removeReply(place + 1)}
            onClick={() => change({ replies: replies.filter((_, at) => at !== place) })}
          >
            <Icon name="close" />
            <span class="unseen">{words.removeReply(place + 1)}</span>
          </button>
        </div>
      ))}
      {replies.length < limits.replies && (
        <div>
          <button type="button" onClick={add}>
            <Icon name="plus" />
            {words.addReply}
          </button>
        </div>
      )}
    </fieldset>
  );
};
