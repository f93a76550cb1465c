/** What a view says instead of data: nothing there yet, refused, or failed. */
import type { ComponentChildren } from 'preact';
import type { Refusal } from '../api/send.ts';
import { Button } from './button.tsx';

export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The refusal, if there is one: a sentence, each rejected field, and the id that finds the call in the service's log. */
export function RefusalNotice({ error, onRetry }: { error: Refusal | null; onRetry?: () => void }) {
  if (error === null) return null;
  return (
    <div class="notice notice-failed" role="alert">
      <p>{sentenceOf(error)}</p>
      {error.details.length > 0 && (
        <ul>
          {error.details.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {error.requestId !== null && error.status >= 500 && (
        <p class="hint">
          Request id for the service's log: <code>{error.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && (
        <Button isSmall onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function sentenceOf(error: Refusal): string {
  const sentence = /[.!?]$/.test(error.message) ? error.message : `${error.message}.`;
  return error.key === 'API.INSUFFICIENT_PERMISSIONS' ? `${sentence} Ask an admin of the account.` : sentence;
}

export function Warning({ children }: { children: ComponentChildren }) {
  return <div class="notice notice-warning">{children}</div>;
}
