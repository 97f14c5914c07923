/** A text of a program, and secrets that are shown once. */
import type { ComponentChildren } from 'preact';
import { Copy, Dialog, Notice } from '../../web/parts.tsx';
import { shell as words } from '../words/shell.ts';

/** A text in lines, with a button that copies it. */
export const Code = ({ text, label }: { text: string; label: string }) => (
  <div class="code">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, also with the keys of who has no pointer */}
    <section tabIndex={0} aria-label={label}>
      {text}
    </section>
    <Copy text={text} label={words.copyNamed(label)} />
  </div>
);

interface OnceProps {
  title: string;
  secret: string;
  /** The label of the button that copies it. */
  copy: string;
  warning: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** Shows a secret once: with a warning, and a button that copies it. */
export const Once = ({ title, secret, copy, warning, onClose, children }: OnceProps) => (
  <Dialog title={title} close={words.stored} onClose={onClose} wide>
    <Notice tone="warn" title={warning} />
    <div class="secret">
      <code>{secret}</code>
      <Copy text={secret} label={copy} labelled />
    </div>
    <p>{children}</p>
  </Dialog>
);
