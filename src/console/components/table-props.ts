/** What a table is given, however many rows it has. */
import type { ComponentChildren } from 'preact';

export interface Column<Row> {
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
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Marks a row, for example as chosen. */
  isCurrent?: (row: Row) => boolean;
  /** More rows can be had, and the end of these is near. */
  onNearEnd?: () => void;
}
