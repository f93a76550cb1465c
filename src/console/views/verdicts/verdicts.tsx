/** The verdict log: every filter of the API, kept in the address, page by page. */
import { useCall } from '../../api/call.ts';
import { Download } from '../../components/download.tsx';
import { EmptyState, RefusalNotice } from '../../components/notice.tsx';
import { OlderPages } from '../../components/older-pages.tsx';
import { Page } from '../../components/page.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { counted } from '../../format/numbers.ts';
import { instances } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import { useWindow } from '../../url/use-window.ts';
import { Filters } from './filters.tsx';
import { offeredFilters } from './verdict-filters.ts';
import { exportBody, namesVisitor, verdictCall } from './verdict-query.ts';
import { VerdictTable } from './verdict-table.tsx';

export default function Verdicts() {
  const [params] = useParams();
  const window = useWindow();
  const { path, body } = verdictCall(params, window);
  // Until the instances are known, the call could be about another one.
  const { value, error, reload } = useCall(path, instances.value.list === null ? null : body);
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
      calls={[{ method: 'POST', path, body }]}
    >
      <Filters filters={offeredFilters} window={window} />
      {error !== null && <RefusalNotice error={error} onRetry={reload} />}
      {value !== null && (
        <>
          <p class="soft" role="status">
            {value.totalIsExact ? '' : 'At least '}
            {counted(value.total, 'verdict')}
          </p>
          {value.verdicts.length === 0 ? (
            <EmptyState title="No verdict in this window">
              <p>Choose a longer time or clear a filter. A verdict arrives within seconds of its request.</p>
            </EmptyState>
          ) : (
            <VerdictTable
              verdicts={value.verdicts}
              hrefOf={(filter) => addressOf('/console/verdicts', { ...params, cursor: null, ...filter })}
            />
          )}
          <OlderPages
            path="/console/verdicts"
            params={params}
            place={['cursor']}
            next={value.nextCursor === null ? null : { cursor: value.nextCursor }}
          />
        </>
      )}
    </Page>
  );
}
