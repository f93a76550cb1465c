/** The verdict log: every filter of the API, kept in the address, page by page. */
import { useCall } from '../../api/call.ts';
import { Download } from '../../components/download.tsx';
import { Load } from '../../components/load.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { OlderPages } from '../../components/older-pages.tsx';
import { Page } from '../../components/page.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { counted } from '../../format/numbers.ts';
import { whenKnown } from '../../frame/instances.ts';
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
