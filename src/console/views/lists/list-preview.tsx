/** What a list has at its source, and what it would have done to the requests of the last day. Nothing is changed. */
import type { ResponseOf } from '../../api/service-api.ts';
import { count, counted } from '../../format/numbers.ts';
import { LeftOut, PreviewedChanges } from '../rules/preview.tsx';
import { ListReport } from './list-report.tsx';

export type Preview = ResponseOf<'/protect/lists/preview'>;

export function ListPreview({ preview }: { preview: Preview }) {
  const { entries, added, removed, report, examined, complete, changed } = preview;
  return (
    <div class="stack" role="status">
      <p>
        It has {counted(entries, 'entry', 'entries')}: {count(added)} would come, {count(removed)} would go.
      </p>
      <p>
        If it were enforced, <b>{count(changed)}</b> of the last 24 hours’ {counted(examined, 'request')} would have
        been decided otherwise.
        {!complete && ' Not all requests could be examined: the real number is higher.'}
        <LeftOut preview={preview} />
      </p>
      <PreviewedChanges preview={preview} />
      {report.examples.length > 0 && <ListReport report={report} />}
    </div>
  );
}
