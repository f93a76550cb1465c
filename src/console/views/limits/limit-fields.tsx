/** Parts of the form of a limit: what it counts by, and what a failed login is. */
import { CheckField, TextField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { KEY_PARTS_MAX, type LimitDraft } from './limit-draft.ts';
import { keyWords } from './limit-words.ts';
import { TEST_NAME_MAX_CHARS } from '../../../contract/management/policy-set/policy-fields.ts';
import type { Form } from '../../settings/use-form.ts';

export interface KeyFieldsProps {
  draft: LimitDraft;
  problem: string | null;
  onChange: (change: Partial<LimitDraft>) => void;
}

const NAMES_MAX_CHARS = KEY_PARTS_MAX * forms.limit.key.items.maxLength;

/** What a limit counts by: boxes for facts of a request, and names of headers and cookies. */
export function KeyFields({ draft: { key, headers, cookies }, problem, onChange }: KeyFieldsProps) {
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
            onChange={(isChosen) =>
              onChange({ key: isChosen ? [...key, part] : key.filter((other) => other !== part) })
            }
          />
        ))}
        <TextField
          label="Value of headers"
          isMono
          placeholder="x-api-key"
          maxLength={NAMES_MAX_CHARS}
          hint="Names, with commas between."
          value={headers}
          onInput={(names) => onChange({ headers: names, key })}
        />
        <TextField
          label="Value of cookies"
          isMono
          placeholder="sid"
          maxLength={NAMES_MAX_CHARS}
          hint="Names, with commas between."
          value={cookies}
          onInput={(names) => onChange({ cookies: names, key })}
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
export function LoginFields({ form }: { form: Form<LimitDraft> }) {
  const { draft, write } = form;
  return (
    <fieldset>
      <legend>What a failed login is</legend>
      <div class="policy-grid">
        <TextField
          {...form.text('loginStatuses')}
          label="Statuses"
          isMono
          placeholder="401, 403"
          hint="Of the origin’s response, with commas between."
        />
        <TextField
          {...form.text('loginHeader')}
          label="Or a header of the response"
          isMono
          placeholder="x-login-failed"
          maxLength={TEST_NAME_MAX_CHARS}
          onInput={(loginHeader) => write({ loginHeader, loginStatuses: draft.loginStatuses })}
        />
        <TextField {...form.text('loginHeaderValue')} label="Value of that header" isMono hint="Empty: any value." />
        {draft.key.includes('user') && (
          <TextField
            {...form.text('usernameField')}
            label="Field with the user name"
            isMono
            placeholder="email"
            hint="Of the form, or in JSON with dots: user.email. The name is hashed and never stored."
          />
        )}
      </div>
    </fieldset>
  );
}
