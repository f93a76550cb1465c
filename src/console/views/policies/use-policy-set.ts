/** The policies of an instance as they are stored, and the draft of somebody who changes them, kept while the page is open. */
import { signal } from '@preact/signals';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { Result } from '../../../result.ts';
import { call, type Loaded, type Refusal } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { caughtUp, draftChanges, onVersion, policiesOf, type PolicyDraft, unchangedDraft } from './draft.ts';
import { textPolicy, type StoredSet } from './policy.ts';

const HITS_MS = 7 * 86_400_000;

/** By site key. The views of one instance share it. */
const drafts = signal<Readonly<Record<string, PolicyDraft>>>({});

export interface LoadedSet {
  siteKey: string;
  loaded: Loaded<StoredSet>;
  load: () => Promise<void>;
}

export function usePolicySet(siteKey: string): LoadedSet {
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
  return { siteKey, loaded, load };
}

export interface DraftState {
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

export function useDraftOf({ siteKey, load }: LoadedSet, stored: StoredSet): DraftState {
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
    // A draft that changes nothing is none, so that what others save is shown.
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
