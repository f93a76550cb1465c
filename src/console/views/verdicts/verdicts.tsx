/** The verdict log: every filter of the API, kept in the address, page by page. */
import { useCall } from '../../api/call.ts';
import { Download } from '../../components/download.tsx';
import { EmptyState, Load, Page } from '../../components/page.tsx';
import { OlderPages } from '../../components/numbered-pages.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { count, counted } from '../../format/numbers.ts';
import { siteOf, whenKnown } from '../../frame/instances.ts';
import { addressOf, type TimeWindow, useParams, useWindow } from '../../url/params.ts';
import {
  exportBody,
  namesVisitor,
  offeredFilters,
  showsOwnCalls,
  shownSources,
  type VerdictFilter,
  verdictCall,
} from './verdict-filters.ts';
import { OwnCallsSwitch } from './own-calls.tsx';
import { VerdictTable } from './verdict-table.tsx';
import { sourceWords } from '../../../contract/management/source-words.ts';
import type { VerdictSource } from '../../../contract/vocabulary.ts';
import type { FilterField } from '../../components/filter-field.ts';
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
          <OwnCallsSwitch />
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
      <VerdictFilters filters={offeredFilters} window={window} />
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
            <OlderPages next={nextCursor} />
          </>
        )}
      </Load>
    </Page>
  );
}

export interface VerdictFiltersProps {
  filters: readonly VerdictFilter[];
  /** For which sources and rules are named, and how often they were. */
  window: TimeWindow;
}

const TEXT_MAX_CHARS = 2048;

export function VerdictFilters({ filters, window: { since, until } }: VerdictFiltersProps) {
  const [params] = useParams();
  const body = whenKnown({ ...siteOf(params), since, until, includeInternal: showsOwnCalls(params) });
  const sources = useCall('/protect/verdicts/distinct-sources', body);
  const rules = useCall('/protect/verdicts/distinct-fired-rules', body);
  const countOf = new Map(sources.value?.sources.map(({ source, total }) => [source, total]));
  const named = (value: VerdictSource): string =>
    countOf.has(value) ? `${sourceWords[value]} (${count(countOf.get(value) ?? 0)})` : sourceWords[value];
  const fields = filters.map((filter): FilterField => {
    if (filter.param === 'source') {
      return { ...filter, values: shownSources(params).map((value) => [value, named(value)] as const) };
    }
    const suggestions = filter.param === 'rule' && { suggestions: rules.value?.firedRules.map(({ id }) => id) ?? [] };
    return { maxLength: TEXT_MAX_CHARS, ...filter, ...suggestions };
  });
  return <FilterForm verb="Filter" fields={fields} place={['cursor']} />;
}
