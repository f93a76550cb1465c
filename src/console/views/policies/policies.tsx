/** The policies of an instance in their order: added, changed, moved and deleted in a draft, and saved as one version. */
import lazy, { ErrorBoundary } from 'preact-iso/lazy';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EmptyState, Section } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { counted } from '../../format/numbers.ts';
import { type PolicyDraft, type DraftEntry, moved, without, withPolicy } from './draft.ts';
import type { PolicyFormProps } from './policy-form.tsx';
import { PolicyPage, type PolicyView } from './policy-page.tsx';
import { PolicyTable, type RowAct } from './policy-table.tsx';

/** Loaded behind the list, which most people only look at. */
const PolicyForm = lazy(() =>
  import('./policy-form.tsx').then((module) => module.PolicyForm).catch(() => FormNotLoaded),
);

function FormNotLoaded({ onClose }: PolicyFormProps) {
  return (
    <Dialog title="The form could not be loaded" onClose={onClose}>
      <p>The service cannot be reached, or has a newer version of the console. Load the page again.</p>
    </Dialog>
  );
}

export default function Policies() {
  return <PolicyPage>{(view) => <PolicyList {...view} />}</PolicyPage>;
}

function PolicyList({ siteKey, stored, state, mayChange }: PolicyView) {
  const { draft, changes, edit } = state;
  const [edited, setEdited] = useState<DraftEntry | 'new' | null>(null);
  const [said, setSaid] = useState('');
  // What is undone later is undone in the draft of then.
  const latest = useRef(edit);
  latest.current = edit;
  const marks = useMemo(() => marksOf(draft), [draft]);
  useEffect(() => void PolicyForm.preload(), []);
  const act = (name: RowAct, entry: DraftEntry): void => {
    const { key, policy } = entry;
    const place = draft.entries.findIndex((one) => one.key === key);
    if (name === 'edit') setEdited(entry);
    else if (name === 'mode') {
      const mode = policy.mode === 'monitor' ? 'enforce' : 'monitor';
      edit((to) => withPolicy(to, key, { ...policy, mode }));
    } else if (name === 'delete') {
      edit((from) => without(from, key));
      toast(`${policy.name} is deleted in the draft.`, {
        undo: () => latest.current((to) => moved({ ...to, entries: [...to.entries, entry] }, key, place)),
      });
    } else {
      const target = name === 'up' ? place - 1 : place + 1;
      edit((to) => moved(to, key, target));
      setSaid(`${policy.name} is at place ${target + 1}.`);
    }
  };
  return (
    <Section
      title={`Version ${stored.version}, ${counted(draft.entries.length, 'policy', 'policies')}${changes.length > 0 ? ' in the draft' : ''}`}
      actions={
        mayChange && (
          <Button kind="primary" onClick={() => setEdited('new')}>
            Add a policy
          </Button>
        )
      }
    >
      <span class="unseen" role="status">
        {said}
      </span>
      {draft.entries.length === 0 ? (
        <EmptyState title="No policy yet">
          <p>Access rules, bots, address categories and risk decide alone.</p>
        </EmptyState>
      ) : (
        <PolicyTable draft={draft} stored={stored} marks={marks} mayChange={mayChange} onAct={act} />
      )}
      <ErrorBoundary>
        {edited !== null && (
          <PolicyForm
            siteKey={siteKey}
            draft={draft}
            stored={stored}
            entry={edited === 'new' ? null : edited}
            onDone={(change) => {
              edit(change);
              setEdited(null);
            }}
            onClose={() => setEdited(null)}
          />
        )}
      </ErrorBoundary>
    </Section>
  );
}

function marksOf({ base, entries }: PolicyDraft): ReadonlyMap<string, string> {
  const before = new Map(base.entries.map(({ key, policy }) => [key, JSON.stringify(policy)]));
  return new Map(
    entries.flatMap(({ key, policy }): [string, string][] => {
      const known = before.get(key);
      return known === undefined ? [[key, 'new']] : known === JSON.stringify(policy) ? [] : [[key, 'changed']];
    }),
  );
}
