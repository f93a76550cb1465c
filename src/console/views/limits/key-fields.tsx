/** What a limit counts by: boxes for facts of a request, and names of headers and cookies. */
import { CheckField, TextField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { KEY_PARTS_MAX, type LimitDraft } from './limit-draft.ts';
import { keyWords } from './limit-words.ts';

export interface KeyFieldsProps {
  draft: LimitDraft;
  problem: string | null;
  onChange: (change: Partial<LimitDraft>) => void;
}

const NAMES_MAX_CHARS = KEY_PARTS_MAX * forms.limit.key.items.maxLength;

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
