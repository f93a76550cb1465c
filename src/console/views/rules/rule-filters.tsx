/** Which rules are listed. */
import { SelectField, TextField } from '../../components/field.tsx';
import { FilterForm, optionsOf } from '../../components/filter-form.tsx';
import { useDraft } from '../../url/use-draft.ts';
import { useParams } from '../../url/params.ts';
import { decisions } from '../../../contract/vocabulary.ts';
import { ruleTypes } from './rule.ts';

export function RuleFilters() {
  const [params, change] = useParams();
  const { textOf, write, typed } = useDraft(['value']);
  const types = Object.entries(ruleTypes).map(([type, { name }]) => [type, name] as const);
  const isFiltered = (params['type'] ?? params['verdict'] ?? params['value']) !== undefined;
  return (
    <FilterForm
      verb="Find"
      onSubmit={() => change(typed())}
      onClear={isFiltered ? () => change({ type: null, verdict: null, value: null }) : null}
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
        options={optionsOf('any', decisions)}
        onChange={(verdict) => change({ verdict })}
      />
      <TextField
        label="Value begins with"
        isMono
        value={textOf('value')}
        onInput={(text) => write('value', text)}
        maxLength={512}
      />
    </FilterForm>
  );
}
