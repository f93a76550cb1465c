/** The frame of the views that share a draft: what is stored, what somebody else has saved, and the bar that saves. */
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { call, type Loaded, type Refusal, type Sent } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Load, Page, Warning } from '../../components/page.tsx';
import { OfInstance } from '../../components/of-instance.tsx';
import { toast } from '../../components/toast.tsx';
import type { SaveDraft } from './save-draft.tsx';
import { counted } from '../../format/numbers.ts';
import { shownInstance } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import { type StoredSet, textPolicy } from './policy.ts';
import { ViewTabs } from '../../components/tabs.tsx';
import type { Result } from '../../../result.ts';
import { signal } from '@preact/signals';
import type { ResponseOf } from '../../api/service-api.ts';
import { caughtUp, draftChanges, onVersion, policiesOf, type PolicyDraft, unchangedDraft } from './draft.ts';

const HITS_MS = 7 * 86_400_000;

/** By site key. The views of one instance share it, and it is kept while the page is open. */
const drafts = signal<Readonly<Record<string, PolicyDraft>>>({});

export interface PolicyView {
  siteKey: string;
  stored: StoredSet;
  state: DraftState;
  mayChange: boolean;
}

type Content = (view: PolicyView) => ComponentChildren;

export function PolicyPage({ calls, children }: { calls?: (siteKey: string) => readonly Sent[]; children: Content }) {
  const [params] = useParams();
  const instance = shownInstance(params);
  return (
    <Page
      title="Policies"
      lead="Conditions on requests and what happens to them. The first enforced one that applies and decides ends the search."
      calls={instance === null ? [] : (calls?.(instance.globalSiteKey) ?? [])}
    >
      <ViewTabs of="Policies" />
      <OfInstance monitored="The instance is in monitor mode: policies are recorded, and nothing else happens.">
        {({ globalSiteKey }) => <OfSite key={globalSiteKey} siteKey={globalSiteKey} content={children} />}
      </OfInstance>
    </Page>
  );
}

function OfSite({ siteKey, content }: { siteKey: string; content: Content }) {
  const [stored, setStored] = useState<StoredSet | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const load = useCallback(async () => {
    const answer = await call('/protect/policies', { siteKey, hitsSince: Date.now() - HITS_MS });
    setError(answer.ok ? null : answer.error);
    if (answer.ok) setStored(answer.value);
  }, [siteKey]);
  useEffect(() => void load(), [load]);
  const loaded: Loaded<StoredSet> = {
    value: stored,
    error,
    isLoading: stored === null && error === null,
    reload: () => void load(),
    calls: [{ method: 'POST', path: '/protect/policies', body: { siteKey } }],
  };
  return <Load of={loaded}>{(set) => <WithDraft siteKey={siteKey} stored={set} load={load} content={content} />}</Load>;
}

interface StoredPolicies {
  siteKey: string;
  stored: StoredSet;
  load: () => Promise<void>;
}

function WithDraft({ content, ...policies }: StoredPolicies & { content: Content }) {
  const { siteKey, stored, load } = policies;
  const state = useDraftOf(policies);
  const [Dialog, setDialog] = useState<typeof SaveDraft | null>(null);
  const ask = (): void =>
    void import('./save-draft.tsx').then(
      (loaded) => setDialog(() => loaded.SaveDraft),
      () => toast('The dialog could not be loaded. Try again.', { tone: 'failed' }),
    );
  const { changes, isBehind, discard } = state;
  const mayChange = may('updateProtectSettings');
  return (
    <>
      {isBehind && <Behind state={state} version={stored.version} />}
      {content({ siteKey, stored, state, mayChange })}
      {changes.length > 0 && (
        <div class="save-bar">
          <span role="status">
            {counted(changes.length, 'change')} of version {state.draft.base.version}, not saved
          </span>
          <Button onClick={discard}>Discard</Button>
          <Button kind="primary" isDisabled={isBehind} onClick={ask}>
            Save…
          </Button>
        </div>
      )}
      {Dialog !== null && (
        <Dialog
          siteKey={siteKey}
          changes={changes}
          save={state.save}
          onSaved={() => void load()}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  );
}

function Behind({ state, version }: { state: DraftState; version: number }) {
  const catchUp = (): void => {
    const both = state.catchUp();
    const names = both.length === 0 ? '' : ` Of ${both.join(', ')}, yours is in the draft: look at the changes.`;
    toast(`Your draft is on top of version ${version} now.${names}`);
  };
  return (
    <Warning>
      <p role="alert">
        Somebody else has saved version {version}. Your draft is kept; it was made for version{' '}
        {state.draft.base.version}.
      </p>
      <Button isSmall onClick={catchUp}>
        Put my changes on version {version}
      </Button>
    </Warning>
  );
}

interface DraftState {
  draft: PolicyDraft;
  changes: ReturnType<typeof draftChanges>;
  /** Somebody else has saved a version since the draft was begun. */
  isBehind: boolean;
  edit: (change: (draft: PolicyDraft) => PolicyDraft) => void;
  discard: () => void;
  /** @returns names of the policies that both have changed. */
  catchUp: () => string[];
  save: (note: string) => Promise<Result<ResponseOf<'/protect/policies/set'>, Refusal>>;
}

function useDraftOf({ siteKey, stored, load }: StoredPolicies): DraftState {
  const known = drafts.value[siteKey];
  const policies = useMemo(() => stored.policies.map(textPolicy), [stored]);
  const draft = useMemo(
    () => (known === undefined ? unchangedDraft(stored.version, policies) : onVersion(known, stored.version, policies)),
    [known, stored, policies],
  );
  const changes = useMemo(() => draftChanges(draft), [draft]);
  const isChanged = changes.length > 0;
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isChanged]);
  const put = (next: PolicyDraft | null): void => {
    const { [siteKey]: _former, ...others } = drafts.value;
    // A draft that changes nothing is dropped, so that the page shows what others save.
    drafts.value = next === null || draftChanges(next).length === 0 ? others : { ...others, [siteKey]: next };
  };
  return {
    draft,
    changes,
    isBehind: isChanged && draft.base.version !== stored.version,
    edit: (change) => put(change(onVersion(drafts.value[siteKey] ?? draft, stored.version, policies))),
    discard: () => put(null),
    catchUp: () => {
      const { draft: next, both } = caughtUp(draft, stored.version, policies);
      put(next);
      return both;
    },
    save: async (note) => {
      const answer = await call('/protect/policies/set', {
        siteKey,
        policies: policiesOf(draft.entries),
        ifVersion: draft.base.version,
        ...(note.trim() === '' ? {} : { note: note.trim() }),
      });
      if (answer.ok) {
        await load();
        put(null);
      } else if (answer.error.status === 409) await load();
      return answer;
    },
  };
}
