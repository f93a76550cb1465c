/** Which rules are listed. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { useParams } from '../../url/params.ts';
import { decisions } from '../../../contract/vocabulary.ts';
import { ruleTypes } from './rule.ts';

export function RuleFilters() {
  const [params, change] = useParams();
  const [value, setValue] = useState(params['value'] ?? '');
  useEffect(() => setValue(params['value'] ?? ''), [params['value']]);
  const types = Object.entries(ruleTypes).map(([type, { name }]) => [type, name] as const);
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        change({ value: value.trim() });
      }}
    >
      <SelectField
        label="Matches"
        value={params['type'] ?? ''}
        options={[['', 'anything'], ...types]}
        onChange={(type) => change({ type })}
      />
      <SelectField
        label="Verdict"
        value={params['verdict'] ?? ''}
        options={[['', 'any'], ...decisions.map((one) => [one, one] as const)]}
        onChange={(verdict) => change({ verdict })}
      />
      <TextField label="Value begins with" isMono value={value} onInput={setValue} maxLength={512} />
      <div class="actions">
        <Button type="submit" kind="primary">
          Find
        </Button>
        {(params['type'] ?? params['verdict'] ?? params['value']) !== undefined && (
          <Button kind="quiet" onClick={() => change({ type: null, verdict: null, value: null })}>
            Clear
          </Button>
        )}
      </div>
    </form>
  );
}
