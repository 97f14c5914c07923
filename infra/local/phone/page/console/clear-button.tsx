/** Removes the traces that the stack keeps. Messages, and what the service stores, stay. */
import { describeError, submit } from '../data/api.ts';
import { Icon } from '../icons.tsx';
import { useToast } from '../shell/toast.tsx';

export const ClearButton = ({ onClear, online }: { onClear: () => void; online: boolean }) => {
  const toast = useToast();
  const clear = () =>
    submit('DELETE', '/traces').then(onClear, (error) => {
      toast(describeError(error), 'bad');
    });
  return (
    <button type="button" class="quiet-button" disabled={!online} onClick={() => void clear()}>
      <Icon name="trash" />
      Clear
    </button>
  );
};
