/** What became of the lines of a reading. What a publisher has written is shown as text. */
import type { Schema } from '../../api/service-api.ts';
import { Table } from '../../components/table.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { count, counted } from '../../format/numbers.ts';

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
