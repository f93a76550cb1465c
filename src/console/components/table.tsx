/** A table of rows. One of some hundred rows is a list whose rows have one height (`long-table.tsx`). */
import { LongTable } from './long-table.tsx';
import type { Column, TableProps } from './table-props.ts';

export type { Column } from './table-props.ts';

/** Fewer rows are simply all in the document. */
const LONG_MIN_ROWS = 300;

export function Table<Row>(props: TableProps<Row>) {
  return props.rows.length < LONG_MIN_ROWS ? <ShortTable {...props} /> : <LongTable {...props} />;
}

function ShortTable<Row>({ caption, columns, rows, keyOf, isCurrent }: TableProps<Row>) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={caption}>
      <table class="table">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} aria-current={isCurrent?.(row) === true ? 'true' : undefined}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf<Row>({ isNumber, isWide, isWrapped }: Column<Row>): string {
  return [isNumber && 'number', isWide && 'wide', isWrapped && 'wrapped'].filter(Boolean).join(' ');
}
