/** The form of a limit, new or changed. */
import { useRef, useState } from 'preact/hooks';
import { failed, ok } from '../../../result.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../components/field.tsx';
import { useForm } from '../../settings/use-form.ts';
import { KeyFields, LoginFields } from './limit-fields.tsx';
import {
  limitDraftOf,
  emptyDraft,
  limitOf,
  limitProblems,
  limitSchemas,
  needsLogin,
  type CountedEvent,
  type WindowUnit,
  windowUnits,
} from './limit-draft.ts';
import { type ListedLimit, saveLimit } from './limit-set.ts';
import type { StoredSet } from '../policies/policy.ts';
import { LimitPreview } from './limit-preview.tsx';
import { actionWords } from './limit-words.ts';

export interface LimitEditorProps {
  site: { siteKey?: string };
  set: StoredSet;
  /** `null`: a new one. */
  limit: ListedLimit | null;
  onClose: () => void;
  onSaved: (name: string) => void;
}

const eventOptions: readonly (readonly [CountedEvent, string])[] = [
  ['request', 'every request'],
  ['loginFailed', 'failed logins'],
  ['challengeFailed', 'challenges that were not solved'],
  ['status', 'responses of the origin with a status'],
];
const unitOptions = Object.keys(windowUnits) as WindowUnit[];
const actionOptions = (Object.keys(actionWords) as ListedLimit['then'][]).map(
  (one) => [one, actionWords[one]] as const,
);

export function LimitEditor({ site, set, limit, onClose, onSaved }: LimitEditorProps) {
  const [condition, setCondition] = useState('');
  // The form shows what was stored when it was opened. After a conflict, saving again replaces what others wrote.
  const known = useRef(set);
  const taken = limit === null ? known.current.limits.map(({ name }) => name) : [];
  const form = useForm(() => (limit === null ? emptyDraft : limitDraftOf(limit)), limitSchemas, {
    problems: (typed) => limitProblems(typed, taken),
    isTouched: limit !== null,
  });
  const { draft, write, problemAt, isComplete } = form;
  const text = condition.trim();
  const change = { name: draft.name, limit: limitOf(draft), ...(text === '' ? {} : { condition: text }) };
  const send = async () => {
    const { set: newest, error } = await saveLimit(site, known.current, change);
    known.current = newest;
    return error === null ? ok(draft.name) : failed(error);
  };
  return (
    <CreateDialog
      title={limit === null ? 'Add a limit' : `Change ${limit.name}`}
      verb={limit === null ? 'Add' : 'Save'}
      isWide
      isComplete={isComplete}
      send={send}
      onMade={onSaved}
      onClose={onClose}
    >
      {limit === null && (
        <>
          <TextField
            {...form.text('name')}
            label="Name"
            isMono
            placeholder="login"
            hint="Small letters, digits and hyphens. Verdicts say limit: and this name."
          />
          <TextField
            label="Requests that it is for"
            isMono
            placeholder={'path equals "/login" and method equals "POST"'}
            hint="A condition, as in policies. It becomes a policy before all others. Empty: no request is counted until you add a policy that names this limit."
            value={condition}
            onInput={setCondition}
          />
        </>
      )}
      <div class="policy-grid">
        <SelectField
          label="Counts"
          value={draft.on}
          options={eventOptions}
          hint={draft.on === 'request' ? undefined : 'Requests are refused while so many of these were counted.'}
          onChange={(on) => write({ on, key: draft.key })}
        />
        {draft.on === 'status' && (
          <TextField {...form.text('status')} label="Status" isMono hint="401, or 4xx for all of them." />
        )}
        <TextField {...form.text('count')} label="At most" />
        <TextField {...form.text('window')} label="Within" hint="The length of the window, up to 24 hours." />
        <SelectField {...form.choice('unit')} label="Unit of the window" options={unitOptions} />
      </div>
      <KeyFields draft={draft} problem={problemAt('key')} onChange={write} />
      {needsLogin(draft) && <LoginFields form={form} />}
      <div class="policy-grid">
        <SelectField {...form.choice('then')} label="Above it a request gets" options={actionOptions} />
        <SelectField
          {...form.choice('mode')}
          label="Mode"
          options={[
            ['monitor', 'monitor: only record'],
            ['enforce', 'enforce'],
          ]}
          hint="Monitored, you see who would have been refused, and nobody is."
        />
        <SelectField
          {...form.choice('algorithm')}
          label="Uses come back"
          options={[
            ['sliding', 'with a window that moves (sliding)'],
            ['bucket', 'evenly, after all at once (bucket)'],
          ]}
        />
      </div>
      {draft.on === 'request' && (
        <CheckField
          {...form.flag('exact')}
          label="Never one too many (exact)"
          hint="Each request waits for the counter, usually some milliseconds. Without it nobody waits, and some more can pass."
        />
      )}
      {draft.on === 'request' && draft.exact && (
        <SelectField
          {...form.choice('ifUnreachable')}
          label="While the counter does not answer, requests"
          options={[
            ['open', 'pass'],
            ['closed', 'are refused with 503'],
          ]}
        />
      )}
      <LimitPreview site={site} set={set} change={isComplete ? change : null} />
    </CreateDialog>
  );
}
