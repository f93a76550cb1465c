/** The filters of a view of verdicts. Every one is in the address. */
import { useCall } from '../../api/call.ts';
import { ChoiceField } from '../../components/choice.tsx';
import { TextField } from '../../components/field.tsx';
import { FilterForm } from '../../components/filter-form.tsx';
import { count } from '../../format/numbers.ts';
import { whenKnown, siteOf } from '../../frame/instances.ts';
import { useDraft } from '../../url/use-draft.ts';
import { useParams } from '../../url/params.ts';
import type { TimeWindow } from '../../url/window.ts';
import { valuesOf, type VerdictFilter } from './verdict-filters.ts';

export interface FiltersProps {
  filters: readonly VerdictFilter[];
  /** For which sources and rules are named, and how often they were. */
  window: TimeWindow;
}

const TEXT_MAX_CHARS = 2048;

export function Filters({ filters, window: { since, until } }: FiltersProps) {
  const [params, change] = useParams();
  const body = whenKnown({ ...siteOf(params), since, until });
  const sources = useCall('/protect/verdicts/distinct-sources', body);
  const rules = useCall('/protect/verdicts/distinct-fired-rules', body);
  const countOf = new Map(sources.value?.sources.map(({ source, total }) => [source, total]));
  const named = (value: string): string =>
    countOf.has(value) ? `${value} (${count(countOf.get(value) ?? 0)})` : value;
  const { textOf, write, typed } = useDraft(
    filters.filter(({ values }) => values === undefined).map(({ param }) => param),
  );
  const apply = (chosen: Readonly<Record<string, string>>) => change({ ...typed(), ...chosen, cursor: null });
  const cleared = Object.fromEntries(filters.map(({ param }) => [param, null]));
  const isFiltered = filters.some(({ param }) => params[param] !== undefined);
  return (
    <FilterForm
      verb="Filter"
      onSubmit={() => apply({})}
      onClear={isFiltered ? () => change({ ...cleared, cursor: null }) : null}
    >
      {filters.map((filter) =>
        filter.values === undefined ? (
          <TextField
            key={filter.param}
            label={filter.label}
            placeholder={filter.placeholder ?? ''}
            isMono
            maxLength={TEXT_MAX_CHARS}
            {...(filter.param === 'rule' ? { suggestions: rules.value?.firedRules.map(({ id }) => id) ?? [] } : {})}
            value={textOf(filter.param)}
            onInput={(text) => write(filter.param, text)}
          />
        ) : (
          <ChoiceField
            key={filter.param}
            label={filter.label}
            options={filter.values.map((value) => [value, filter.param === 'source' ? named(value) : value] as const)}
            chosen={valuesOf(filter, params).map(String)}
            onChange={(chosen) => apply({ [filter.param]: chosen.join(',') })}
          />
        ),
      )}
    </FilterForm>
  );
}
