/** What is asked before a limit is enforced, only recorded, changed or removed. It stands outside of the table's cells. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { failed, ok } from '../../../result.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { counted } from '../../format/numbers.ts';
import { LimitEditor } from './limit-form.tsx';
import { LimitPreview } from './limit-preview.tsx';
import { type ListedLimit, saveLimit, usersOf } from './limit-set.ts';
import type { StoredSet } from '../policies/policy.ts';
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

export function LimitDialog({ site, set, limit, act, hits, onClose, onChange }: LimitDialogProps) {
  const { name, mode } = limit;
  const isMonitored = mode === 'monitor';
  const done = (text: string): void => {
    onClose();
    toast(`${text} The edges follow with their next poll, five seconds by default.`);
    onChange();
  };
  if (act === 'change') {
    return (
      <LimitEditor site={site} set={set} limit={limit} onClose={onClose} onSaved={() => done(`${name} was changed.`)} />
    );
  }
  if (act === 'remove') {
    return (
      <SaveDialog
        title={`Remove ${name}?`}
        verb="Remove"
        site={site}
        set={set}
        name={name}
        limit={null}
        onSaved={() => done(`${name} was removed.`)}
        onClose={onClose}
      >
        <Leaving users={usersOf(set, name)} />
      </SaveDialog>
    );
  }
  return (
    <SaveDialog
      title={isMonitored ? `Enforce ${name}?` : `Only monitor ${name}?`}
      verb={isMonitored ? 'Enforce' : 'Only monitor'}
      site={site}
      set={set}
      name={name}
      limit={{ ...limit, mode: isMonitored ? 'enforce' : 'monitor' }}
      onSaved={() => done(`${name} is ${isMonitored ? 'enforced' : 'only recorded'}.`)}
      onClose={onClose}
    >
      {isMonitored ? (
        <>
          {hits !== null && <p>{counted(hits, 'request')} of the last 24 hours would have been above it.</p>}
          <p>From now on a request above it gets {actionWords[limit.then]}.</p>
          <LimitPreview site={site} set={set} change={{ name, limit: { ...limit, mode: 'enforce' } }} />
        </>
      ) : (
        <p>It refuses nobody any more. What is above it is still recorded.</p>
      )}
    </SaveDialog>
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

interface SaveDialogProps {
  title: string;
  verb: string;
  site: { siteKey?: string };
  set: StoredSet;
  name: string;
  limit: ListedLimit | null;
  onSaved: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

function SaveDialog({ title, verb, site, set, name, limit, onSaved, onClose, children }: SaveDialogProps) {
  const known = useRef(set);
  const send = async () => {
    const { set: newest, error } = await saveLimit(site, known.current, { name, limit });
    known.current = newest;
    return error === null ? ok(name) : failed(error);
  };
  return (
    <CreateDialog title={title} verb={verb} isComplete send={send} onMade={onSaved} onClose={onClose}>
      {children}
    </CreateDialog>
  );
}
