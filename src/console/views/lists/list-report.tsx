/** What became of the lines of a reading. What a publisher has written is shown as text. */
import type { ResponseOf, Schema } from '../../api/service-api.ts';
import { Table } from '../../components/table.tsx';
import { VisitorText } from '../../components/values.tsx';
import { count, counted } from '../../format/numbers.ts';
import { LeftOut, PreviewedChanges } from '../rules/preview.tsx';

export function ListReport({ report }: { report: Schema<'ListReport'> }) {
  const { lines, notUnderstood, reserved, tooWide, examples } = report;
  return (
    <div class="stack">
      <p>
        {counted(lines, 'line')}: {count(notUnderstood)} not understood, {count(reserved)} private or reserved,{' '}
        {count(tooWide)} too wide.
      </p>
      {examples.length > 0 && (
        <Table
          caption="Lines that were left out"
          rows={examples}
          keyOf={({ line }) => String(line)}
          columns={[
            { title: 'Line', isNumber: true, cell: ({ line }) => count(line) },
            { title: 'Why', isWrapped: true, cell: ({ reason }) => <VisitorText text={reason} /> },
            { title: 'Text', isWide: true, cell: ({ text }) => <VisitorText text={text} maxChars={100} /> },
          ]}
        />
      )}
    </div>
  );
}

export type PreviewedList = ResponseOf<'/protect/lists/preview'>;

/** What a list has at its source, and what it would have done to the requests of the last day. Nothing is changed. */
export function ListPreview({ preview }: { preview: PreviewedList }) {
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
