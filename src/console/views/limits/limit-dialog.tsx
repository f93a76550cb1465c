/** What is asked before a limit is enforced, only recorded, changed or removed. It stands outside of the table's cells. */
import { useRef } from 'preact/hooks';
import { failed, ok } from '../../../result.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { counted } from '../../format/numbers.ts';
import { LimitEditor } from './limit-form.tsx';
import { useLimitPreview } from './limit-preview.tsx';
import { type ListedLimit, saveLimit, usersOf } from './limit-set.ts';
import type { StoredSet } from '../policies/policy.ts';
import { saidWithUndo } from '../policies/said-with-undo.ts';
import { actionWords } from './limit-words.ts';

export type LimitAct = 'mode' | 'change' | 'remove';

export interface LimitDialogProps {
  site: { siteKey?: string };
  set: StoredSet;
  limit: ListedLimit;
  act: LimitAct;
  /** Requests of the last 24 hours that were above it; `null`: not known. */
  hits: number | null;
  onClose: () => void;
  onChange: () => void;
}

/** The verb on the button, and what has become of the limit then. */
const questions = {
  remove: ['Remove', 'was removed'],
  enforce: ['Enforce', 'is enforced'],
  monitor: ['Only monitor', 'is only recorded'],
} as const;

export function LimitDialog({ site, set, limit, act, hits, onClose, onChange }: LimitDialogProps) {
  const known = useRef(set);
  const { name, mode } = limit;
  const done = (text: string, version: number): void => {
    onClose();
    const said = `${name} ${text}. The edges follow with their next poll, five seconds by default.`;
    saidWithUndo(said, site, version, onChange);
    onChange();
  };
  const nextMode = mode === 'monitor' ? 'enforce' : 'monitor';
  const next: ListedLimit | null = act === 'remove' ? null : { ...limit, mode: nextMode };
  const preview = useLimitPreview(site, set, { name, limit: next });
  if (act === 'change') {
    return (
      <LimitEditor
        site={site}
        set={set}
        limit={limit}
        onClose={onClose}
        onSaved={(_, version) => done('was changed', version)}
      />
    );
  }
  const [verb, outcome] = questions[act === 'remove' ? act : nextMode];
  const send = async () => {
    const { set: newest, version, error } = await saveLimit(site, known.current, { name, limit: next });
    known.current = newest;
    return error === null ? ok({ version }) : failed(error);
  };
  return (
    <CreateDialog
      title={`${verb} ${name}?`}
      verb={verb}
      action={next?.mode === 'enforce' && preview.button}
      send={send}
      onMade={({ version }) => done(outcome, version)}
      onClose={onClose}
    >
      {next === null && <Leaving users={usersOf(set, name)} />}
      {next?.mode === 'enforce' && (
        <>
          {hits !== null && <p>{counted(hits, 'request')} of the last 24 hours would have been above it.</p>}
          <p>From now on a request above it gets {actionWords[limit.then]}.</p>
          {preview.result}
        </>
      )}
      {next?.mode === 'monitor' && <p>It refuses nobody any more. What is above it is still recorded.</p>}
    </CreateDialog>
  );
}

/** The policies of a limit do nothing else, so they leave with it. */
function Leaving({ users }: { users: readonly string[] }) {
  return (
    <>
      <p>Its counts are forgotten.</p>
      {users.length > 0 && (
        <p>
          {users.length === 1 ? 'The policy that uses it goes' : `${users.length} policies that use it go`} with it:{' '}
          <code>{users.join(', ')}</code>.
        </p>
      )}
      <p>An earlier version of the policies has it still, and can be restored.</p>
    </>
  );
}
