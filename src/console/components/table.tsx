/**
 * A table of rows. Above some hundred rows only those near the window are in the document, so that 100,000 rows scroll
 * like ten. Rows then have one height, and screen readers get the real number of rows.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Column<Row> {
  /** Heading; also what screen readers call the column. */
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Numbers are set right, with digits of one width. */
  isNumber?: boolean;
  /** Takes the room that the others leave. */
  isWide?: boolean;
  /** Shows long text on several lines; not for tables of more than 300 rows, whose rows have one height. */
  isWrapped?: boolean;
}

export interface TableProps<Row> {
  /** For screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Marks a row, for example as chosen. */
  isCurrent?: (row: Row) => boolean;
  /** More rows can be had, and the end of these is near. */
  onNearEnd?: () => void;
}

/** Fewer rows are simply all in the document. */
const VIRTUAL_MIN_ROWS = 300;
/** As in the style sheet. */
const ROW_HEIGHT_PX = 41;
/** So far from the end, more rows are asked for. */
const NEAR_END_ROWS = 300;
const OVERSCAN_ROWS = 20;

export function Table<Row>(props: TableProps<Row>) {
  return props.rows.length < VIRTUAL_MIN_ROWS ? (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={props.caption}>
      <TableOf {...props} from={0} to={props.rows.length} />
    </div>
  ) : (
    <VirtualTable {...props} />
  );
}

function VirtualTable<Row>(props: TableProps<Row>) {
  const region = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [visibleRows, setVisibleRows] = useState(40);
  useEffect(() => {
    const { current } = region;
    if (current === null) return;
    const measure = () => {
      setFirst(Math.floor(current.scrollTop / ROW_HEIGHT_PX));
      setVisibleRows(Math.ceil(current.clientHeight / ROW_HEIGHT_PX));
    };
    measure();
    current.addEventListener('scroll', measure, { passive: true });
    return () => current.removeEventListener('scroll', measure);
  }, []);
  const { onNearEnd } = props;
  const isNearEnd = first > 0 && first + visibleRows + NEAR_END_ROWS > props.rows.length;
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, props.rows.length]);
  const from = Math.max(0, Math.min(first - OVERSCAN_ROWS, props.rows.length));
  const to = Math.min(props.rows.length, first + visibleRows + OVERSCAN_ROWS);
  return (
    <div ref={region} class="table-scroll table-virtual" tabIndex={0} role="region" aria-label={props.caption}>
      <TableOf {...props} from={from} to={to} />
    </div>
  );
}

function TableOf<Row>({
  caption,
  columns,
  rows,
  keyOf,
  isCurrent,
  from,
  to,
}: TableProps<Row> & { from: number; to: number }) {
  const isWhole = from === 0 && to === rows.length;
  return (
    <table class="table" aria-rowcount={isWhole ? undefined : rows.length + 1}>
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
        {from > 0 && <Gap rows={from} columns={columns.length} />}
        {rows.slice(from, to).map((row, at) => (
          <tr
            key={keyOf(row)}
            aria-rowindex={isWhole ? undefined : from + at + 2}
            aria-current={isCurrent?.(row) === true ? 'true' : undefined}
          >
            {columns.map((column) => (
              <td key={column.title} class={classOf(column)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
        {to < rows.length && <Gap rows={rows.length - to} columns={columns.length} />}
      </tbody>
    </table>
  );
}

/** The room of the rows that are not in the document. */
function Gap({ rows, columns }: { rows: number; columns: number }) {
  return (
    <tr aria-hidden="true" class="gap">
      <td colSpan={columns} style={{ height: `${rows * ROW_HEIGHT_PX}px` }} />
    </tr>
  );
}

function classOf<Row>({ isNumber, isWide, isWrapped }: Column<Row>): string {
  return [isNumber && 'number', isWide && 'wide', isWrapped && 'wrapped'].filter(Boolean).join(' ');
}
