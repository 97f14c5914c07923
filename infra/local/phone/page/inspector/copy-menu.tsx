/** On a small page: a button that copies the request as a program. */
import type { Call } from '../../traces/views.ts';
import { Icon } from '../icons.tsx';
import { Menu } from '../shell/menu.tsx';
import { copiedAs, useCopy } from './call-panel.tsx';
import { copyAs, languages } from './copy-as.ts';

export const CopyMenu = ({ call }: { call: Call }) => {
  const { copy } = useCopy();
  return (
    <Menu
      label="Copy the request"
      look="with-icon"
      face={
        <>
          <Icon name="terminal" />
          Copy as …
          <Icon name="chevron" />
        </>
      }
    >
      {(close) =>
        languages.map(({ name, label }) => (
          <button
            type="button"
            key={name}
            onClick={() => {
              close();
              void copy(name, copyAs(name, call), copiedAs(label));
            }}
          >
            {label}
          </button>
        ))
      }
    </Menu>
  );
};
