/**
 * A table of many rows, of which only those near the window are in the document, so that 100,000 rows scroll like ten.
 *
 * A frame of scrolling must be cheap. Rows have one height and columns one width, so that no row moves another. A row
 * that leaves on one side becomes the one that enters on the other, so that nothing is created, and a row that stays is
 * not rendered again. Screen readers get the real number of rows.
 */
import { Component, type ComponentChildren, createRef } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

/** As in the style sheet. In a narrow window a row is a block: a line for each column, and the room around them. */
const ROW_HEIGHT_PX = 41;
const LINE_HEIGHT_PX = 26;
const BLOCK_ROOM_PX = 17;
/** Above and below the window: more than somebody scrolls in a frame. */
const OVERSCAN_ROWS = 20;
/** So far from the end, more rows are asked for: a few seconds of fast scrolling. */
const NEAR_END_ROWS = 4000;
/** Without scrolling, until rows are put into their order in the document. */
const SETTLED_MS = 150;

export function LongTable<Row>({ caption, columns, rows, keyOf, isCurrent, onNearEnd }: TableProps<Row>) {
  const region = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [visibleRows, setVisibleRows] = useState(40);
  const isNarrow = useIsNarrow();
  const rowHeightPx = isNarrow ? columns.length * LINE_HEIGHT_PX + BLOCK_ROOM_PX : ROW_HEIGHT_PX;
  useEffect(() => {
    const { current } = region;
    if (current === null) return;
    const measure = () => {
      setFirst(Math.floor(current.scrollTop / rowHeightPx));
      setVisibleRows(Math.ceil(current.clientHeight / rowHeightPx));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    current.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      current.removeEventListener('scroll', measure);
    };
  }, [rowHeightPx]);
  const isNearEnd = first > 0 && first + visibleRows + NEAR_END_ROWS > rows.length;
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, rows.length]);

  const slots = visibleRows + 2 * OVERSCAN_ROWS;
  const from = Math.max(0, Math.min(first - OVERSCAN_ROWS, rows.length - slots));
  const turn = useTurn(region, from % slots);
  const tracks = useMemo(() => columns.map(trackOf).join(' '), [columns]);
  return (
    <div ref={region} class="table-scroll table-long" tabIndex={0} role="region" aria-label={caption}>
      <table class="table" role="table" aria-rowcount={rows.length + 1} aria-label={caption}>
        <thead role="rowgroup">
          <tr role="row" style={{ gridTemplateColumns: tracks }}>
            {columns.map(({ title, heading, isNumber }) => (
              <th key={title} scope="col" role="columnheader" class={isNumber === true ? 'number' : ''}>
                {heading ?? title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" style={{ height: `${rows.length * rowHeightPx}px` }}>
          {Array.from({ length: Math.min(slots, rows.length) }, (_, at) => {
            const slot = (turn + at) % slots;
            const index = from + ((slot - (from % slots) + slots) % slots);
            const row = rows[index];
            return (
              row !== undefined && (
                <LongRow
                  key={slot}
                  {...{ row, index, tracks, columns, isNarrow, rowHeightPx }}
                  id={keyOf(row)}
                  isCurrent={isCurrent?.(row) === true}
                />
              )
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/**
 * The slot that is first in the document. It stays while somebody scrolls, because moving elements costs a frame, and
 * follows `wanted` afterwards, because the Tab key and screen readers follow the document.
 */
function useTurn(region: { current: HTMLElement | null }, wanted: number): number {
  const [turn, setTurn] = useState(wanted);
  const focused = useRef<Element | null>(null);
  useEffect(() => {
    if (wanted === turn) return;
    const timer = setTimeout(() => {
      focused.current = document.activeElement;
      setTurn(wanted);
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [wanted, turn]);
  // An element that is moved loses the focus.
  useLayoutEffect(() => {
    const { current } = focused;
    focused.current = null;
    if (current instanceof HTMLElement && current !== document.activeElement && region.current?.contains(current)) {
      current.focus({ preventScroll: true });
    }
  }, [turn]);
  return turn;
}

interface LongRowProps {
  row: unknown;
  id: string;
  index: number;
  tracks: string;
  columns: readonly TableColumn<never>[];
  isNarrow: boolean;
  rowHeightPx: number;
  isCurrent: boolean;
}

class LongRow extends Component<LongRowProps> {
  readonly #element = createRef<HTMLTableRowElement>();

  override shouldComponentUpdate(next: LongRowProps): boolean {
    const { row, index, columns, isNarrow, isCurrent } = this.props;
    return (
      next.row !== row ||
      next.index !== index ||
      next.columns !== columns ||
      next.isNarrow !== isNarrow ||
      next.isCurrent !== isCurrent
    );
  }

  /** The element shows another row now: a button that has the focus must not act on that one. */
  override componentDidUpdate({ id }: LongRowProps): void {
    const { current } = this.#element;
    if (id === this.props.id || current?.contains(document.activeElement) !== true) return;
    current.closest<HTMLElement>('.table-long')?.focus({ preventScroll: true });
  }

  override render({ row, index, tracks, columns, isNarrow, rowHeightPx, isCurrent }: LongRowProps) {
    return (
      <tr
        ref={this.#element}
        role="row"
        aria-rowindex={index + 2}
        aria-current={isCurrent ? 'true' : undefined}
        style={{
          gridTemplateColumns: isNarrow ? 'minmax(0, 1fr)' : tracks,
          height: `${rowHeightPx}px`,
          transform: `translateY(${index * rowHeightPx}px)`,
        }}
      >
        {columns.map(({ title, isNumber, cell }) => (
          <td key={title} role="cell" class={isNumber === true ? 'number' : ''} data-label={title}>
            {isNarrow ? <div class="cell">{cell(row as never)}</div> : cell(row as never)}
          </td>
        ))}
      </tr>
    );
  }
}

function trackOf({ width, isNumber, isWide }: TableColumn<never>): string {
  return width ?? (isNumber === true ? '7rem' : isWide === true ? 'minmax(16rem, 3fr)' : 'minmax(9rem, 1fr)');
}

const NARROW = '(max-width: 640px)';

/** Whether the window is so narrow that a row of a table is a block of lines; as in the style sheet. */
export function useIsNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const onChange = () => setIsNarrow(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return isNarrow;
}

/** What a table is given, however many rows it has. */
export interface TableColumn<Row> {
  /** Heading; also what screen readers call the column. */
  title: string;
  /** In place of the title, where it should say more or take less room. */
  heading?: ComponentChildren;
  cell: (row: Row) => ComponentChildren;
  /** Numbers are set right, with digits of one width. */
  isNumber?: boolean;
  /** Takes the room that the others leave. */
  isWide?: boolean;
  /** Shows long text on several lines; not for tables of more than 300 rows, whose rows have one height. */
  isWrapped?: boolean;
  /** In a table of more than 300 rows, whose columns keep one width while it scrolls: a track of a grid. */
  width?: string;
}

export interface TableProps<Row> {
  /** For screen readers. */
  caption: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Marks a row, for example as chosen. */
  isCurrent?: (row: Row) => boolean;
  /** More rows can be had, and the end of these is near. */
  onNearEnd?: () => void;
}
