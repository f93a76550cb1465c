/** The frame of a view: its title, its actions, its content, and the shell lines that make it. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Sent } from '../api/send.ts';
import { CurlLines } from './copy.tsx';
import { callsOf, PageCalls, usePageCalls } from './load.tsx';

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
  const loads = usePageCalls();
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

function Lines({ loads, others }: { loads: ReturnType<typeof usePageCalls>; others: readonly Sent[] }) {
  const calls = [...callsOf(loads), ...others];
  return calls.length === 0 ? null : <CurlLines calls={calls} />;
}
