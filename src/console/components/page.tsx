/**
 * What every view is made of: the frame with its title, its actions and the shell lines that make it, titled sections,
 * what it has loaded, and what it says instead of data: nothing there yet, refused, or failed.
 */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useId, useRef } from 'preact/hooks';
import { curlLine, type Loaded, type Refusal, type Sent } from '../api/call.ts';
import { Button, CopyButton } from './button.tsx';
import { type Signal, useSignal } from '@preact/signals';

export interface PageProps {
  title: string;
  /** One sentence: what the view is for. */
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  /** Calls that belong to the view beside those that it loads. */
  calls?: readonly Sent[];
  children: ComponentChildren;
}

export function Page({ title, lead, actions, calls = [], children }: PageProps) {
  const loads = useSignal<ReadonlyMap<string, readonly Sent[]>>(new Map());
  useEffect(() => {
    document.title = `${title} · Gatehouse`;
  }, [title]);
  return (
    <main class="page" id="content" tabIndex={-1}>
      <header class="page-head">
        <div>
          <h1>{title}</h1>
          {lead !== undefined && <p class="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      <PageCalls.Provider value={loads}>{children}</PageCalls.Provider>
      <Lines loads={loads} others={calls} />
    </main>
  );
}

/** By the id of the part that shows them. A page with ten lists of one kind shows one line for their path. */
type PageCalls = Signal<ReadonlyMap<string, readonly Sent[]>>;

const PageCalls = createContext<PageCalls | null>(null);

/** The newest call of each path. */
function Lines({ loads, others }: { loads: PageCalls; others: readonly Sent[] }) {
  const loaded = new Map([...loads.value.values()].flat().map((one) => [one.path, one]));
  const calls = [...loaded.values(), ...others];
  return calls.length === 0 ? null : <CurlLines calls={calls} />;
}

/** Every view shows which calls made it. */
function CurlLines({ calls }: { calls: readonly Sent[] }) {
  return (
    <details class="curl">
      <summary>Show as curl</summary>
      {calls.map((sent) => {
        const line = curlLine(sent);
        return (
          <div key={line} class="curl-line">
            <code>{line}</code>
            <CopyButton text={line} />
          </div>
        );
      })}
      <p class="hint">
        <code>KEY</code> is an API key of the account. The <a href="/docs/api">API reference</a> describes every field.
      </p>
    </details>
  );
}

export interface LoadProps<Value> {
  of: Loaded<Value>;
  isEmpty?: (value: Value) => boolean;
  /** In place of the content when it is empty: what is not there, and what somebody can do. */
  emptyTitle?: string;
  emptyText?: ComponentChildren;
  children?: (value: Value) => ComponentChildren;
}

/**
 * What a view has loaded: the content once it is there, the reason when the call failed, with a way to try again, and
 * what is said when there is nothing. The page shows the call as a shell line.
 */
export function Load<Value>({ of, isEmpty, emptyTitle = '', emptyText, children }: LoadProps<Value>) {
  const { value, error, reload, calls } = of;
  useCurlLines(calls);
  const isNothing = value !== null && isEmpty?.(value) === true;
  return (
    <>
      <RefusalNotice error={error} onRetry={reload} />
      {isNothing && <EmptyState title={emptyTitle}>{emptyText !== undefined && <p>{emptyText}</p>}</EmptyState>}
      {value !== null && !isNothing && children?.(value)}
    </>
  );
}

function useCurlLines(sent: readonly Sent[]): void {
  const parts = useContext(PageCalls);
  const id = useId();
  useEffect(() => {
    if (parts === null) return;
    parts.value = new Map([...parts.value, [id, sent]]);
    return () => {
      parts.value = new Map([...parts.value].filter(([part]) => part !== id));
    };
  }, [parts, id, JSON.stringify(sent)]);
}

export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The refusal, if there is one: a sentence, each rejected field, and the id that finds the call in the service's log. */
export interface RefusalNoticeProps {
  error: Refusal | null;
  onRetry?: () => void;
  /** Paths are labels of fields, for people. */
  isInWords?: boolean;
}

export function RefusalNotice({ error, onRetry, isInWords = false }: RefusalNoticeProps) {
  const notice = useRef<HTMLDivElement>(null);
  // After a button at the end of a long form, people see why nothing happened.
  useEffect(() => notice.current?.scrollIntoView({ block: 'nearest' }), [error]);
  if (error === null) return null;
  return (
    <div ref={notice} class="notice notice-failed" role="alert">
      <p>{sentenceOf(error)}</p>
      {error.details.length > 0 && (
        <ul>
          {error.details.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {isInWords ? <b>{path}</b> : <code>{path}</code>} {message}
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

/** Names and values of one thing. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A titled part of a view. */
export function Section({
  title,
  children,
  actions,
}: {
  title: string;
  children: ComponentChildren;
  actions?: ComponentChildren;
}) {
  return (
    <section class="section">
      <header>
        <h2>{title}</h2>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
