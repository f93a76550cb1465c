/** Which rules are listed: by what they say, or by a visitor that they match. */
import { SelectField, TextField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { FilterForm, optionsOf } from '../../components/filter-form.tsx';
import { useDraft } from '../../url/use-draft.ts';
import { useParams } from '../../url/params.ts';
import { decisions } from '../../../contract/vocabulary.ts';
import { ruleTypes } from './rule.ts';
import { textFilters } from './use-rules.ts';

const texts = textFilters.map(([name]) => name);
const cleared = Object.fromEntries(['type', 'verdict', ...texts].map((name) => [name, null]));

export function RuleFilters() {
  const [params, change] = useParams();
  const { textOf, write, typed } = useDraft(texts);
  const types = Object.entries(ruleTypes).map(([type, { name }]) => [type, name] as const);
  const isFiltered = Object.keys(cleared).some((name) => params[name] !== undefined);
  return (
    <FilterForm verb="Find" onSubmit={() => change(typed())} onClear={isFiltered ? () => change(cleared) : null}>
      <SelectField
        label="Matches"
        value={params['type'] ?? ''}
        options={[['', 'anything'], ...types]}
        onChange={(type) => change({ ...typed(), type })}
      />
      <SelectField
        label="Verdict"
        value={params['verdict'] ?? ''}
        options={optionsOf('any', decisions)}
        onChange={(verdict) => change({ ...typed(), verdict })}
      />
      {textFilters.map(([name, label, placeholder]) => (
        <TextField
          key={name}
          label={label}
          placeholder={placeholder}
          isMono
          maxLength={forms.accessRule.value.maxLength}
          value={textOf(name)}
          onInput={(text) => write(name, text)}
        />
      ))}
    </FilterForm>
  );
}
