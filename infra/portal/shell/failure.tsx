/** Errors as sentences. */
import { Notice } from '../../web/parts.tsx';
import { ApiError, OfflineError } from '../client.ts';
import { shell as words } from '../words/shell.ts';

/** An error as a sentence for the reader. */
export const sentenceOf = (error: unknown): string => {
  if (error instanceof OfflineError) return words.offlineError;
  if (!(error instanceof ApiError)) return words.unexpected;
  // Errors of API Gateway have no code, and no sentence.
  return error.code === '' ? words.refused(error.status) : error.message;
};

interface FailureProps {
  error: unknown;
  onRetry?: () => void;
  title?: string;
}

/** An error: what the service says, each wrong value, and a button that tries again. Nothing without an error. */
export const Failure = ({ error, onRetry, title }: FailureProps) => {
  if (error === undefined) return null;
  const { errors, trace, status } = error instanceof ApiError ? error : { errors: [], trace: undefined, status: 0 };
  return (
    <Notice tone="bad" {...(title !== undefined && { title })}>
      <p>{sentenceOf(error)}</p>
      {errors.length > 0 && (
        <ul class="failure-list">
          {errors.map(({ pointer, parameter, detail }) => (
            <li key={`${pointer}${parameter}${detail}`}>
              {(pointer || parameter) && <code>{pointer || parameter}</code>} {detail}
            </li>
          ))}
        </ul>
      )}
      {trace !== undefined && status >= 500 && <p>{words.trace(trace)}</p>}
      {onRetry && (
        <p>
          <button type="button" onClick={onRetry}>
            {words.tryAgain}
          </button>
        </p>
      )}
    </Notice>
  );
};
