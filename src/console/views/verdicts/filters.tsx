/** The filters of the verdict list. Every one is in the address. */
import { useCall } from '../../api/call.ts';
import { SelectField, TextField } from '../../components/field.tsx';
import { FilterForm, optionsOf } from '../../components/filter-form.tsx';
import { count } from '../../format/numbers.ts';
import { instances, siteOf } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import { useDraft } from '../../url/use-draft.ts';
import type { TimeWindow } from '../../url/window.ts';
import { decisions, deviceTypes, verdictSources } from '../../../contract/vocabulary.ts';

/** Text filters: parameter → label and an example. */
const texts = [
  ['ip', 'Address', '192.0.2.1'],
  ['jti', 'Session', ''],
  ['path', 'Path', '/signup or /api/*'],
  ['rule', 'Rule that fired', 'userAgent:badbot'],
  ['asn', 'AS number', '64496'],
] as const;

const cleared = Object.fromEntries(
  [...texts.map(([name]) => name), 'decision', 'source', 'device', 'cursor'].map((name) => [name, null]),
);

export function Filters({ window: { since, until } }: { window: TimeWindow }) {
  const [params, change] = useParams();
  const body = instances.value.list === null ? null : { ...siteOf(params), since, until };
  const sources = useCall('/protect/verdicts/distinct-sources', body);
  const rules = useCall('/protect/verdicts/distinct-fired-rules', body);
  const countOf = new Map(sources.value?.sources.map(({ source, total }) => [source, total]));
  const named = (source: string) => (countOf.has(source) ? `${source} (${count(countOf.get(source) ?? 0)})` : source);
  const { textOf, write, typed } = useDraft(texts.map(([name]) => name));
  const isFiltered = Object.keys(cleared).some((name) => name !== 'cursor' && params[name] !== undefined);
  return (
    <FilterForm
      verb="Filter"
      onSubmit={() => change({ ...typed(), cursor: null })}
      onClear={isFiltered ? () => change(cleared) : null}
    >
      <SelectField
        label="Decision"
        value={params['decision'] ?? ''}
        options={optionsOf('any', decisions)}
        onChange={(decision) => change({ decision, cursor: null })}
      />
      <SelectField
        label="Source"
        value={params['source'] ?? ''}
        options={[['', 'any'], ...verdictSources.map((source) => [source, named(source)] as const)]}
        onChange={(source) => change({ source, cursor: null })}
      />
      <SelectField
        label="Device"
        value={params['device'] ?? ''}
        options={optionsOf('any', deviceTypes)}
        onChange={(device) => change({ device, cursor: null })}
      />
      {texts.map(([name, label, placeholder]) => (
        <TextField
          key={name}
          label={label}
          placeholder={placeholder}
          isMono
          {...(name === 'rule' ? { suggestions: rules.value?.firedRules.map(({ id }) => id) ?? [] } : {})}
          value={textOf(name)}
          onInput={(text) => write(name, text)}
        />
      ))}
    </FilterForm>
  );
}
