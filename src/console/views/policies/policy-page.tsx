/** The frame of the views that share a draft: what is stored, what somebody else has saved, and the bar that saves. */
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { call, type Loaded, type Refusal, type Sent } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Load, Page, Warning } from '../../components/page.tsx';
import { OfInstance } from '../../components/of-instance.tsx';
import { toast } from '../../components/toast.tsx';
import { saidWithUndo } from './said-with-undo.ts';
import { counted } from '../../format/numbers.ts';
import { shownInstance } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import { type StoredSet, textPolicy } from './policy.ts';
import { ViewTabs } from '../../components/tabs.tsx';
import { failed, type Result } from '../../../result.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { DifferenceList } from './differences.tsx';
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
  const { siteKey, stored } = policies;
  const state = useDraftOf(policies);
  const [isSaving, setIsSaving] = useState(false);
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
          <Button kind="primary" isDisabled={isBehind} onClick={() => setIsSaving(true)}>
            Save…
          </Button>
        </div>
      )}
      {isSaving && <SaveDraft {...policies} state={state} onClose={() => setIsSaving(false)} />}
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

const CONFLICT = 'Somebody else has saved another version meanwhile. Nothing was saved, and your draft is kept.';

interface SaveDraftProps extends StoredPolicies {
  state: DraftState;
  onClose: () => void;
}

/** Saves a draft as one version: what it changes, and why. */
function SaveDraft({ siteKey, load, state: { changes, save }, onClose }: SaveDraftProps) {
  const [note, setNote] = useState('');
  return (
    <CreateDialog
      title="Save the policies"
      verb="Save"
      isWide
      isComplete={changes.length > 0}
      send={async () => {
        const answer = await save(note);
        if (answer.ok || answer.error.status !== 409) return answer;
        return failed({ ...answer.error, message: CONFLICT, details: [] });
      }}
      onMade={({ version }) => {
        onClose();
        const text = `Saved as version ${version}. The edges follow with their next poll, five seconds by default.`;
        saidWithUndo(text, { siteKey }, version, () => void load());
      }}
      onClose={onClose}
    >
      <DifferenceList differences={{ policies: changes }} />
      <TextField
        label="Why"
        hint="For the history. Optional."
        value={note}
        onInput={setNote}
        maxLength={forms.policySet.note.maxLength}
      />
    </CreateDialog>
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
