/** How the origin says that a login failed, and where the user's name stands. */
import { TextField } from '../../components/field.tsx';
import { TEST_NAME_MAX_CHARS } from '../../../contract/management/policy-set/policy-fields.ts';
import type { Form } from '../../settings/use-form.ts';
import type { LimitDraft } from './limit-draft.ts';

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
