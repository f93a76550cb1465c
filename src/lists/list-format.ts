/** The formats that lists come in, what reading one gives, and what can be wrong with it. */
import type { ListSettings, ReportField } from '../contract/management/lists.ts';

export type ListFormat = ListSettings['format'];

export interface ListReading {
  format: ListFormat;
  /** CSV: the name of the column with the values, or its number from 1 in a file without a heading. */
  column?: string | undefined;
  /** JSON and NDJSON: where the values are, such as `data[].ipAddress`. */
  selector?: string | undefined;
  /** Networks that no visitor from the internet has are left out, unless the list is about them. */
  includeReserved?: boolean | undefined;
}

export type ReadingReport = ReportField;

export type ListError =
  | { kind: 'is-empty' }
  | { kind: 'is-html' }
  | { kind: 'too-large' }
  | { kind: 'too-many' }
  | { kind: 'too-many-others' }
  | { kind: 'too-many-values' }
  | { kind: 'broke-off' }
  | { kind: 'not-json' }
  | { kind: 'no-column'; column: string }
  | { kind: 'no-selector'; selector: string }
  /** Most lines are no entries: it is something else. */
  | { kind: 'not-a-list'; notUnderstood: number; lines: number };

/** What a list may have, whole. */
export const LIST_MAX_BYTES = 24 * 1024 * 1024;
/** A document that is parsed whole takes several times its size. */
export const JSON_MAX_BYTES = 8 * 1024 * 1024;
export const JSON_VALUES_MAX = 500_000;
export const ENTRIES_MAX = 1_000_000;
/** Of them, those that are no IPv4 networks: each is a text, which takes ten times the memory. */
export const OTHER_ENTRIES_MAX = 400_000;
/** Networks that are read, those that are left out too: a range of a few characters has hundreds. */
export const NETWORKS_READ_MAX = 2 * ENTRIES_MAX;

/** One sentence for the operator. */
export function listErrorText(error: ListError): string {
  switch (error.kind) {
    case 'is-empty':
      return 'The list has no entries';
    case 'is-html':
      return 'The answer is a web page';
    case 'too-large':
      return 'The list is too long';
    case 'too-many':
      return `The list has more than ${ENTRIES_MAX} entries`;
    case 'too-many-others':
      return `The list has more than ${OTHER_ENTRIES_MAX} entries that are not IPv4 networks`;
    case 'too-many-values':
      return `The document has more than ${JSON_VALUES_MAX} values`;
    case 'broke-off':
      return 'The answer broke off';
    case 'not-json':
      return 'The answer is not JSON';
    case 'no-column':
      return `The list has no column ${JSON.stringify(error.column)}`;
    case 'no-selector':
      return `The document has nothing at ${JSON.stringify(error.selector)}`;
    case 'not-a-list':
      return `${error.notUnderstood} of ${error.lines} lines are no entries`;
  }
}
