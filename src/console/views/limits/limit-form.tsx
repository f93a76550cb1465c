/** The form of a limit, new or changed. */
import { useRef, useState } from 'preact/hooks';
import { failed, ok } from '../../../result.ts';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { CheckField, SelectField, TextField } from '../../components/field.tsx';
import { KeyFields } from './key-fields.tsx';
import {
  type CountedEvent,
  draftOf,
  emptyDraft,
  type LimitDraft,
  limitOf,
  needsLogin,
  problemsOf,
  type WindowUnit,
  windowUnits,
} from './limit-draft.ts';
import { type Limit, type PolicySet, saveLimit } from './limit-set.ts';
import { LimitPreview } from './limit-preview.tsx';
import { actionWords } from './limit-words.ts';
import { LoginFields } from './login-fields.tsx';

export interface LimitFormProps {
  site: { siteKey?: string };
  set: PolicySet;
  /** `null`: a new one. */
  limit: Limit | null;
  onClose: () => void;
  onSaved: (name: string) => void;
}

/** As the API bounds the text of a condition. */
const CONDITION_MAX_CHARS = 16_384;

const eventOptions: readonly (readonly [CountedEvent, string])[] = [
  ['request', 'every request'],
  ['loginFailed', 'failed logins'],
  ['challengeFailed', 'challenges that were not solved'],
  ['status', 'responses of the origin with a status'],
];
const unitOptions = (Object.keys(windowUnits) as WindowUnit[]).map((unit) => [unit, unit] as const);
const actionOptions = (Object.keys(actionWords) as Limit['then'][]).map((one) => [one, actionWords[one]] as const);

export function LimitForm({ site, set, limit, onClose, onSaved }: LimitFormProps) {
  const [draft, setDraft] = useState<LimitDraft>(() => (limit === null ? emptyDraft : draftOf(limit)));
  const [condition, setCondition] = useState('');
  const [touched, setTouched] = useState<readonly string[]>([]);
  // The form shows what was stored when it was opened. After a conflict, saving again replaces what others wrote.
  const known = useRef(set);
  const taken = limit === null ? known.current.limits.map(({ name }) => name) : [];
  const problems = problemsOf(draft, taken);
  const write = (change: Partial<LimitDraft>): void => {
    setDraft((former) => ({ ...former, ...change }));
    setTouched((former) => [...new Set([...former, ...Object.keys(change)])]);
  };
  // Nothing is wrong with a field before somebody was there.
  const problemAt = (field: keyof LimitDraft): string | null =>
    touched.includes(field) || limit !== null ? (problems[field] ?? null) : null;
  const isComplete = Object.keys(problems).length === 0;
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
            label="Name"
            isMono
            placeholder="login"
            maxLength={48}
            hint="Small letters, digits and hyphens. Verdicts say limit: and this name."
            error={problemAt('name')}
            value={draft.name}
            onInput={(name) => write({ name })}
          />
          <TextField
            label="Requests that it is for"
            isMono
            placeholder={'path equals "/login" and method equals "POST"'}
            maxLength={CONDITION_MAX_CHARS}
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
          <TextField
            label="Status"
            isMono
            maxLength={3}
            hint="401, or 4xx for all of them."
            error={problemAt('status')}
            value={draft.status}
            onInput={(status) => write({ status })}
          />
        )}
        <TextField
          label="At most"
          type="number"
          error={problemAt('count')}
          value={draft.count}
          onInput={(count) => write({ count })}
        />
        <TextField
          label="Within"
          type="number"
          hint="The length of the window, up to 24 hours."
          error={problemAt('window')}
          value={draft.window}
          onInput={(window) => write({ window })}
        />
        <SelectField
          label="Unit of the window"
          value={draft.unit}
          options={unitOptions}
          onChange={(unit) => write({ unit })}
        />
      </div>
      <KeyFields draft={draft} problem={problemAt('key')} onChange={write} />
      {needsLogin(draft) && <LoginFields draft={draft} problemAt={problemAt} onChange={write} />}
      <div class="policy-grid">
        <SelectField
          label="Above it a request gets"
          value={draft.then}
          options={actionOptions}
          onChange={(then) => write({ then })}
        />
        <SelectField
          label="Mode"
          value={draft.mode}
          options={[
            ['monitor', 'monitor: only record'],
            ['enforce', 'enforce'],
          ]}
          hint="Monitored, you see who would have been refused, and nobody is."
          onChange={(mode) => write({ mode })}
        />
        <SelectField
          label="Uses come back"
          value={draft.algorithm}
          options={[
            ['sliding', 'with a window that moves (sliding)'],
            ['bucket', 'evenly, after all at once (bucket)'],
          ]}
          onChange={(algorithm) => write({ algorithm })}
        />
      </div>
      {draft.on === 'request' && (
        <CheckField
          label="Never one too many (exact)"
          hint="Each request waits for the counter, usually some milliseconds. Without it nobody waits, and some more can pass."
          isChecked={draft.exact}
          onChange={(exact) => write({ exact })}
        />
      )}
      {draft.on === 'request' && draft.exact && (
        <SelectField
          label="While the counter does not answer, requests"
          value={draft.ifUnreachable}
          options={[
            ['open', 'pass'],
            ['closed', 'are refused with 503'],
          ]}
          onChange={(ifUnreachable) => write({ ifUnreachable })}
        />
      )}
      <LimitPreview site={site} set={set} change={isComplete ? change : null} />
    </CreateDialog>
  );
}
