/**
 * What a view has loaded: the content once it is there, the reason when the call failed, with a way to try again, and
 * what is said when there is nothing. The page shows the call as a shell line.
 */
import { type Signal, useSignal } from '@preact/signals';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useId } from 'preact/hooks';
import type { Loaded } from '../api/call.ts';
import type { Sent } from '../api/send.ts';
import { EmptyState, RefusalNotice } from './notice.tsx';

export interface LoadProps<Value> {
  of: Loaded<Value>;
  isEmpty?: (value: Value) => boolean;
  /** In place of the content when it is empty: what is not there, and what somebody can do. */
  emptyTitle?: string;
  emptyText?: ComponentChildren;
  children?: (value: Value) => ComponentChildren;
}

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

/** By the id of the part that shows them. A page with ten lists of one kind shows one line for their path. */
type PageCalls = Signal<ReadonlyMap<string, readonly Sent[]>>;

export const PageCalls = createContext<PageCalls | null>(null);

export function usePageCalls(): PageCalls {
  return useSignal<ReadonlyMap<string, readonly Sent[]>>(new Map());
}

/** The newest call of each path. */
export function callsOf(parts: PageCalls): Sent[] {
  return [...new Map([...parts.value.values()].flat().map((one) => [one.path, one])).values()];
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
