/**
 * A table of rows. One of some hundred rows is a list whose rows have one height (`long-table.tsx`). On a narrow screen
 * each row is a block of lines with the headings as labels; the roles keep it a table for screen readers.
 */
import { type TableColumn, LongTable, type TableProps } from './long-table.tsx';

export type { TableColumn } from './long-table.tsx';

/** Fewer rows are simply all in the document. */
const LONG_MIN_ROWS = 300;

export function Table<Row>(props: TableProps<Row>) {
  return props.rows.length < LONG_MIN_ROWS ? <ShortTable {...props} /> : <LongTable {...props} />;
}

function ShortTable<Row>({ caption, columns, rows, keyOf, isCurrent }: TableProps<Row>) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={caption}>
      <table class="table" role="table">
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.heading ?? column.title} role="columnheader" scope="col" class={classOf(column)}>
                {column.heading ?? column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row" aria-current={isCurrent?.(row) === true ? 'true' : undefined}>
              {columns.map((column) => (
                <td key={column.title} role="cell" class={classOf(column)} data-label={column.title}>
                  <div class="cell">{column.cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf<Row>({ isNumber, isWide, isWrapped }: TableColumn<Row>): string {
  return [isNumber && 'number', isWide && 'wide', isWrapped && 'wrapped'].filter(Boolean).join(' ');
}
