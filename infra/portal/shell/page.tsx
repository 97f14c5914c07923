/** The parts of which views consist. */
import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon, type IconName } from '../../web/icons.tsx';
import { Copy, Skeleton } from '../../web/parts.tsx';
import type { Pages } from '../use-call.ts';
import { shell as words } from '../words/shell.ts';
import { Failure } from './failure.tsx';

interface PageProps {
  title: string;
  /** A sentence below the title. */
  intro?: ComponentChildren;
  /** Buttons and links beside the title. */
  actions?: ComponentChildren;
  /** The link to the list of which this page shows one item. */
  back?: { href: string; label: string };
  children: ComponentChildren;
}

/** A page of a view. Its title receives the focus when the page opens, so that screen readers announce it. */
export const Page = ({ title, intro, actions, back, children }: PageProps) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // Who signs in, or loads the page, begins at its top.
    if (document.activeElement !== document.body) heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  return (
    <div class="page">
      <header class="page-head">
        {back && (
          <a class="back" href={back.href}>
            <Icon name="back" />
            {back.label}
          </a>
        )}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div class="page-actions">{actions}</div>}
        {intro && <p class="page-intro">{intro}</p>}
      </header>
      {children}
    </div>
  );
};

interface SectionProps {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A titled part of a page, on a card. */
export const Section = ({ title, actions, children }: SectionProps) => {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
};

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  /** What is wrong with the value. */
  error?: string | undefined;
  /** The control, which gets the id, and the ids of hint and error. */
  children: (attributes: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean;
  }) => ComponentChildren;
}

/** A control with its label, its hint, and its error. */
export const Field = ({ label, hint, error, children }: FieldProps) => {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error !== undefined })}
      {hint && (
        <span class="quiet" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {error && (
        <span class="problem" id={`${id}-error`} role="alert">
          {error}
        </span>
      )}
    </div>
  );
};

/** Of a field with a control of its own, which gets the other attributes. Those of an input depend on its type. */
type ControlProps<Attributes> = Omit<FieldProps, 'children'> & { value: string } & (Attributes extends unknown
    ? Omit<Attributes, keyof FieldProps | 'onInput' | 'value'>
    : never);

type TextFieldProps = ControlProps<InputHTMLAttributes> &
  ({ onValue: (value: string) => void } | { onValue?: never; onChange: InputHTMLAttributes['onChange'] });

/** A field for a line of text, a date or a time. `onChange` in place of `onValue`: the value counts when it is complete. */
export const TextField = ({ label, hint, error, onValue, ...attributes }: TextFieldProps) => (
  <Field label={label} hint={hint} error={error}>
    {(ids) => <input {...ids} {...attributes} onInput={({ currentTarget }) => onValue?.(currentTarget.value)} />}
  </Field>
);

type TextAreaProps = ControlProps<TextareaHTMLAttributes> & { onValue: (value: string) => void };

/** A field for a text of several lines. */
export const TextArea = ({ label, hint, error, onValue, ...attributes }: TextAreaProps) => (
  <Field label={label} hint={hint} error={error}>
    {(ids) => <textarea {...ids} {...attributes} onInput={({ currentTarget }) => onValue(currentTarget.value)} />}
  </Field>
);

interface SelectProps extends Omit<FieldProps, 'children'> {
  value: string | number;
  onValue: (value: string) => void;
  /** The options. */
  children: ComponentChildren;
}

/** A field for one of several options. */
export const Select = ({ label, hint, error, value, onValue, children }: SelectProps) => (
  <Field label={label} hint={hint} error={error}>
    {(ids) => (
      <select {...ids} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {children}
      </select>
    )}
  </Field>
);

interface Column<Item> {
  title: string;
  cell: (item: Item) => ComponentChildren;
  /** `number`: at the end of the cell. `title`: names the item, without a label on small screens. */
  kind?: 'number' | 'title';
}

interface TableProps<Item> {
  caption: string;
  columns: Column<Item>[];
  items: Item[];
  keyOf: (item: Item) => string;
}

/** A table; on small screens a list of cards. */
export const Table = <Item,>({ caption, columns, items, keyOf }: TableProps<Item>) => (
  <table class="table">
    <caption class="unseen">{caption}</caption>
    <thead>
      <tr>
        {columns.map(({ title, kind }) => (
          <th key={title} scope="col" class={kind ?? ''}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {items.map((item) => (
        <tr key={keyOf(item)}>
          {columns.map(({ title, cell, kind }) => (
            <td key={title} data-label={title} class={kind ?? ''}>
              <div>{cell(item)}</div>
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

interface ListProps<Item> {
  pages: Pages<Item>;
  /** What is shown instead of an empty list. */
  empty: ComponentChildren;
  children: (items: Item[]) => ComponentChildren;
}

/** A list of the API: while it loads, if it fails, if it is empty, and with the button for its next page. */
export const List = <Item,>({ pages, empty, children }: ListProps<Item>) => {
  const { items, error, loading, more, reload } = pages;
  return (
    <>
      <Failure error={error} onRetry={reload} title={words.notLoaded} />
      {items === undefined
        ? error === undefined && <Skeleton rows={6} />
        : items.length === 0 && !more
          ? empty
          : children(items)}
      {more && (
        <button type="button" class="more" disabled={loading} onClick={more}>
          {loading ? words.loadingMore : words.more}
        </button>
      )}
    </>
  );
};

interface FactsProps {
  facts: (readonly [label: string, value: ComponentChildren] | false | undefined)[];
}

/** Names and values. */
export const Facts = ({ facts }: FactsProps) => (
  <dl class="facts">
    {facts.map(
      (fact) =>
        fact && (
          <div key={fact[0]}>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </div>
        ),
    )}
  </dl>
);

/** An id, with a button that copies it. */
export const Id = ({ id, label }: { id: string; label: string }) => (
  <span class="id">
    <code>{id}</code>
    <Copy text={id} label={label} />
  </span>
);

export const ButtonLink = ({
  href,
  icon,
  children,
  primary = false,
}: {
  href: string;
  icon?: IconName;
  children: ComponentChildren;
  primary?: boolean;
}) => (
  <a class={primary ? 'button primary' : 'button'} href={href}>
    {icon && <Icon name={icon} />}
    {children}
  </a>
);
