/** How the origin says that a login failed, and where the user's name stands. */
import { TextField } from '../../components/field.tsx';
import type { LimitDraft } from './limit-draft.ts';

export interface LoginFieldsProps {
  draft: LimitDraft;
  problemAt: (field: keyof LimitDraft) => string | null;
  onChange: (change: Partial<LimitDraft>) => void;
}

export function LoginFields({ draft, problemAt, onChange }: LoginFieldsProps) {
  return (
    <fieldset>
      <legend>What a failed login is</legend>
      <div class="policy-grid">
        <TextField
          label="Statuses"
          isMono
          placeholder="401, 403"
          maxLength={60}
          hint="Of the origin’s response, with commas between."
          error={problemAt('loginStatuses')}
          value={draft.loginStatuses}
          onInput={(loginStatuses) => onChange({ loginStatuses })}
        />
        <TextField
          label="Or a header of the response"
          isMono
          placeholder="x-login-failed"
          maxLength={128}
          value={draft.loginHeader}
          onInput={(loginHeader) => onChange({ loginHeader, loginStatuses: draft.loginStatuses })}
        />
        <TextField
          label="Value of that header"
          isMono
          maxLength={512}
          hint="Empty: any value."
          value={draft.loginHeaderValue}
          onInput={(loginHeaderValue) => onChange({ loginHeaderValue })}
        />
        {draft.key.includes('user') && (
          <TextField
            label="Field with the user name"
            isMono
            placeholder="email"
            maxLength={64}
            hint="Of the form, or in JSON with dots: user.email. The name is hashed and never stored."
            error={problemAt('usernameField')}
            value={draft.usernameField}
            onInput={(usernameField) => onChange({ usernameField })}
          />
        )}
      </div>
    </fieldset>
  );
}
