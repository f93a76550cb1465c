/** What is wrong with a configuration file, each with its line and column. All of them are shown at once. */
import { CommandError } from '../command-line.ts';
import { printable } from '../printable.ts';

/** Keys from the root of the file to a value: `['instances', 0, 'rules', 3, 'value']`. */
export type Path = readonly (string | number)[];

/** From 1. */
export interface Place {
  line: number;
  column: number;
}

export interface Problem {
  /** `null`: of the file as a whole. */
  place: Place | null;
  /** As a reader writes it: `instances[0].rules[3].value`. Empty: the whole file. */
  path: string;
  message: string;
}

const SHOWN_MAX = 100;

/** The file is rejected as a whole; nothing was changed. */
export class RejectedFileError extends CommandError {
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    const sorted = problems.toSorted((a, b) => lineOf(a) - lineOf(b) || columnOf(a) - columnOf(b));
    const lines = sorted.slice(0, SHOWN_MAX).map((problem) => problemLine(file, problem));
    const more = sorted.length > SHOWN_MAX ? [`… and ${sorted.length - SHOWN_MAX} more`] : [];
    const count = sorted.length === 1 ? 'a problem' : `${sorted.length} problems`;
    super([`${file} has ${count}. Nothing was changed.`, ...lines, ...more].join('\n'));
    this.problems = sorted;
  }
}

const lineOf = ({ place }: Problem): number => place?.line ?? 0;
const columnOf = ({ place }: Problem): number => place?.column ?? 0;

function problemLine(file: string, { place, path, message }: Problem): string {
  const where = place === null ? file : `${file}:${place.line}:${place.column}`;
  return `  ${where}  ${printable(path === '' ? message : `${path} ${message}`)}`;
}

export function pathText(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}
