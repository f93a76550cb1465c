/** The form of a limit, new or changed. */
import { useRef, useState } from 'preact/hooks';
import { failed, ok } from '../../../result.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { CheckField, TextField } from '../../components/field.tsx';
import { type Form, RefusableText, useForm, useRefusal } from '../../settings/form.tsx';
import {
  limitDraftOf,
  emptyDraft,
  KEY_PARTS_MAX,
  limitOf,
  limitProblems,
  limitSchemas,
  needsLogin,
  withKeyPart,
  type CountedEvent,
  type LimitDraft,
  type WindowUnit,
  windowUnits,
} from './limit-draft.ts';
import { type ListedLimit, saveLimit } from './limit-set.ts';
import type { StoredSet } from '../policies/policy.ts';
import { useLimitPreview } from './limit-preview.tsx';
import { actionWords, algorithmWords, eventWords, keyWords, unreachableWords } from './limit-words.ts';
import { forms } from '../../settings/form-schemas.generated.ts';

export interface LimitEditorProps {
  site: { siteKey?: string };
  set: StoredSet;
  /** `null`: a new one. */
  limit: ListedLimit | null;
  onClose: () => void;
  onSaved: (name: string, version: number) => void;
}

const eventOptions = Object.entries(eventWords) as [CountedEvent, string][];
const unitOptions = Object.keys(windowUnits) as WindowUnit[];
const actionOptions = (Object.keys(actionWords) as ListedLimit['then'][]).map(
  (one) => [one, actionWords[one]] as const,
);

const modeOptions = [
  ['monitor', 'monitor: only record'],
  ['enforce', 'enforce'],
] as const;
const algorithmOptions = Object.entries(algorithmWords) as [ListedLimit['algorithm'], string][];
const unreachableOptions = Object.entries(unreachableWords) as [keyof typeof unreachableWords, string][];

export function LimitEditor({ site, set, limit, onClose, onSaved }: LimitEditorProps) {
  const [condition, setCondition] = useState('');
  // The form shows what was stored when it was opened. After a conflict, saving again replaces what others wrote.
  const known = useRef(set);
  const taken = limit === null ? known.current.limits.map(({ name }) => name) : [];
  const form = useForm(limit === null ? emptyDraft : limitDraftOf(limit), limitSchemas, {
    problems: (typed) => limitProblems(typed, taken),
    isTouched: limit !== null,
  });
  const { draft, isComplete } = form;
  const text = condition.trim();
  const change = { name: draft.name, limit: limitOf(draft), ...(text === '' ? {} : { condition: text }) };
  const preview = useLimitPreview(site, set, isComplete ? change : null);
  const send = async () => {
    const { set: newest, version, error } = await saveLimit(site, known.current, change);
    known.current = newest;
    return error === null ? ok({ version }) : failed(error);
  };
  return (
    <CreateDialog
      title={limit === null ? 'Add a limit' : `Change ${limit.name}`}
      verb={limit === null ? 'Add' : 'Save'}
      isWide
      isComplete={isComplete}
      action={preview.button}
      send={send}
      onMade={({ version }) => onSaved(draft.name, version)}
      onClose={onClose}
    >
      {limit === null && (
        <>
          {form.fields([
            {
              name: 'name',
              label: 'Name',
              isMono: true,
              placeholder: 'login',
              hint: 'Small letters, digits and hyphens. Verdicts say limit: and this name.',
            },
          ])}
          <RefusableText
            name="when"
            label="Requests that it is for"
            isMono
            placeholder={'path equals "/login" and method equals "POST"'}
            hint="A condition, as in policies. It becomes the first policy of the list. Requests that rules, risk or other policies stop are not counted: the preview says how many. Empty: no request is counted until you add a policy that names this limit."
            value={condition}
            onInput={setCondition}
          />
        </>
      )}
      <div class="group-members">
        {form.fields([
          {
            name: 'on',
            label: 'Counts',
            options: eventOptions,
            hint: draft.on === 'request' ? undefined : 'Requests are refused while so many of these were counted.',
            also: ['key'],
          },
          draft.on === 'status' && {
            name: 'status',
            label: 'Status',
            isMono: true,
            hint: '401, or 4xx for all of them.',
          },
          { name: 'count', label: 'At most' },
          { name: 'window', label: 'Within', hint: 'The length of the window, up to 24 hours.' },
          { name: 'unit', label: 'Unit of the window', options: unitOptions },
        ])}
      </div>
      <KeyFields form={form} />
      {needsLogin(draft) && <LoginFields form={form} />}
      <div class="policy-grid">
        {form.fields([
          {
            name: 'then',
            label: 'Above it a request gets',
            options: actionOptions,
            hint: draft.key.includes('user') && draft.then !== 'challenge' ? LOCKS_OUT : undefined,
          },
          {
            name: 'mode',
            label: 'Mode',
            options: modeOptions,
            hint: 'Monitored, you see who would have been refused, and nobody is.',
          },
          { name: 'algorithm', label: 'Uses come back', options: algorithmOptions },
        ])}
      </div>
      {form.fields([
        draft.on === 'request' && {
          name: 'exact',
          label: 'Never one too many (exact)',
          hint: 'Each request waits for the counter, usually some milliseconds. Without it nobody waits, and some more can pass.',
        },
        draft.on === 'request' &&
          draft.exact && {
            name: 'ifUnreachable',
            label: 'While the counter does not answer, requests',
            options: unreachableOptions,
          },
      ])}
      {preview.result}
    </CreateDialog>
  );
}

const LOCKS_OUT =
  'Anybody who knows a user’s name can keep that person out with wrong passwords. With a challenge, the person solves it and logs in.';
const NAMES_MAX_CHARS = KEY_PARTS_MAX * forms.limit.key.items.maxLength;

/** What a limit counts by: boxes for facts of a request, and names of headers and cookies. */
function KeyFields({ form: { draft, write, problemAt } }: { form: Form<LimitDraft> }) {
  const { key, headers, cookies } = draft;
  const refused = useRefusal('key', 'Counted for each');
  const problem = problemAt('key') ?? refused;
  return (
    <fieldset>
      <legend>Counted for each</legend>
      <p class="hint">
        Up to {KEY_PARTS_MAX} together: with address and path, each address has a count for each path. Requests that
        lack one share a count within their network.
      </p>
      <div class="group-members">
        {Object.entries(keyWords).map(([part, words]) => (
          <CheckField
            key={part}
            label={words}
            isChecked={key.includes(part)}
            onChange={(isChosen) => write(withKeyPart(draft, part, isChosen))}
          />
        ))}
        <TextField
          label="Value of headers"
          isMono
          placeholder="x-api-key"
          maxLength={NAMES_MAX_CHARS}
          hint="Names, with commas between."
          value={headers}
          onInput={(names) => write({ headers: names, key })}
        />
        <TextField
          label="Value of cookies"
          isMono
          placeholder="sid"
          maxLength={NAMES_MAX_CHARS}
          hint="Names, with commas between."
          value={cookies}
          onInput={(names) => write({ cookies: names, key })}
        />
      </div>
      {problem !== null && (
        <p class="field-error" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

/** How the origin says that a login failed, and where the user's name stands. */
function LoginFields({ form }: { form: Form<LimitDraft> }) {
  return (
    <fieldset>
      <legend>What a failed login is</legend>
      <div class="policy-grid">
        {form.fields([
          {
            name: 'loginStatuses',
            label: 'Statuses',
            isMono: true,
            placeholder: '401, 403',
            hint: 'Of the origin’s response, with commas between.',
          },
          {
            name: 'loginHeader',
            label: 'Or a header of the response',
            isMono: true,
            placeholder: 'x-login-failed',
            also: ['loginStatuses'],
          },
          { name: 'loginHeaderValue', label: 'Value of that header', isMono: true, hint: 'Empty: any value.' },
          form.draft.key.includes('user') && {
            name: 'usernameField',
            label: 'Field with the user name',
            isMono: true,
            placeholder: 'email',
            hint: 'Of the form, or in JSON with dots: user.email. The name is hashed and never stored.',
          },
        ])}
      </div>
    </fieldset>
  );
}
