/** The frame of the views that share a draft: what is stored, what somebody else has saved, and the bar that saves. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Sent } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Load, Page, Warning } from '../../components/page.tsx';
import { OfInstance } from '../../components/of-instance.tsx';
import { toast } from '../../components/toast.tsx';
import { counted } from '../../format/numbers.ts';
import { shownInstance } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import type { StoredSet } from './policy.ts';
import { ViewTabs } from '../../components/tabs.tsx';
import { type DraftState, type LoadedSet, useDraftOf, usePolicySet } from './use-policy-set.ts';
import { failed } from '../../../result.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { DifferenceList } from './differences.tsx';

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
  const set = usePolicySet(siteKey);
  return <Load of={set.loaded}>{(stored) => <WithDraft set={set} stored={stored} content={content} />}</Load>;
}

function WithDraft({ set, stored, content }: { set: LoadedSet; stored: StoredSet; content: Content }) {
  const state = useDraftOf(set, stored);
  const [isSaving, setIsSaving] = useState(false);
  const { changes, isBehind, discard } = state;
  const mayChange = may('updateProtectSettings');
  return (
    <>
      {isBehind && <Behind state={state} version={stored.version} />}
      {content({ siteKey: set.siteKey, stored, state, mayChange })}
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
      {isSaving && <SaveDraft state={state} onClose={() => setIsSaving(false)} />}
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

/** Saves a draft as one version: what it changes, and why. */
export function SaveDraft({ state: { changes, save }, onClose }: { state: DraftState; onClose: () => void }) {
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
        toast(`Saved as version ${version}. The edges follow with their next poll, five seconds by default.`);
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
