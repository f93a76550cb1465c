/** The verdict log: every filter of the API, kept in the address, page by page. */
import { useCall } from '../../api/call.ts';
import { Download } from '../../components/download.tsx';
import { EmptyState, Load, Page } from '../../components/page.tsx';
import { OlderPages } from '../../components/numbered-pages.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { count, counted } from '../../format/numbers.ts';
import { siteOf, whenKnown } from '../../frame/instances.ts';
import { addressOf, type TimeWindow, useDraft, useParams, useWindow } from '../../url/params.ts';
import { offeredFilters, type VerdictFilter, valuesOf } from './verdict-filters.ts';
import { exportBody, namesVisitor, verdictCall } from './verdict-query.ts';
import { VerdictTable } from './verdict-table.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { TextField } from '../../components/field.tsx';
import { FilterForm } from '../../components/filter-form.tsx';

export default function Verdicts() {
  const [params] = useParams();
  const window = useWindow();
  const { path, body } = verdictCall(params, window);
  const loaded = useCall(path, whenKnown(body));
  const exported = (format: 'ndjson' | 'parquet') => ({
    sent: { method: 'POST', path: '/protect/verdicts/export', body: exportBody(params, window, format) } as const,
    fileName: `verdicts.${format}`,
  });
  return (
    <Page
      title="Verdicts"
      lead="What the gate decided about each request."
      actions={
        <>
          <RangePicker window={window} />
          {!namesVisitor(params) && (
            <>
              <Download {...exported('ndjson')} label="Export NDJSON" />
              <Download {...exported('parquet')} label="Export Parquet" />
            </>
          )}
        </>
      }
    >
      <Filters filters={offeredFilters} window={window} />
      <Load of={loaded}>
        {({ verdicts, total, totalIsExact, nextCursor }) => (
          <>
            <p class="soft" role="status">
              {totalIsExact ? '' : 'At least '}
              {counted(total, 'verdict')}
            </p>
            {verdicts.length === 0 ? (
              <EmptyState title="No verdict in this window">
                <p>Choose a longer time or clear a filter. A verdict arrives within seconds of its request.</p>
              </EmptyState>
            ) : (
              <VerdictTable
                verdicts={verdicts}
                hrefOf={(filter) => addressOf('/console/verdicts', { ...params, cursor: null, ...filter })}
              />
            )}
            <OlderPages
              path="/console/verdicts"
              params={params}
              place={['cursor']}
              next={nextCursor === null ? null : { cursor: nextCursor }}
            />
          </>
        )}
      </Load>
    </Page>
  );
}

export interface FiltersProps {
  filters: readonly VerdictFilter[];
  /** For which sources and rules are named, and how often they were. */
  window: TimeWindow;
}

const TEXT_MAX_CHARS = 2048;

/** The filters of a view of verdicts. Every one is in the address. */
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
