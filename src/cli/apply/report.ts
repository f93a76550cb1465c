/** What is wrong with a configuration file, each with its line and column. A reader sees all of it at once. */
import { OperationError } from '../../service/operations/operation-error.ts';
import { CommandError } from '../command-line.ts';
import { printable } from '../print/printable.ts';

/** Finds a part of the file: a `ConfigDocument`. */
interface Places {
  place(path: FieldPath): FilePlace | null;
}

export class Report {
  readonly file: string;
  readonly #document: Places;
  readonly #problems: Problem[] = [];

  constructor(file: string, document: Places) {
    this.file = file;
    this.#document = document;
  }

  problem(path: FieldPath, message: string): Problem {
    return { place: this.#document.place(path), path: pathText(path), message };
  }

  add(path: FieldPath, message: string): void {
    this.#problems.push(this.problem(path, message));
  }

  /** Runs a check of the service. Its refusals are problems below `path`. */
  checked(path: FieldPath, check: () => void): void {
    try {
      check();
    } catch (error) {
      this.addRefusal(path, error);
    }
  }

  /** `above`: steps that the service names and that are not below `path`. @throws what is no refusal */
  addRefusal(path: FieldPath, error: unknown, above = 0): void {
    if (!(error instanceof OperationError)) throw error;
    for (const detail of error.details ?? []) {
      this.add([...path, ...stepsIn(detail.path).slice(above)], detail.message);
    }
  }

  addAll(problems: readonly Problem[]): void {
    for (const problem of problems) this.#problems.push(problem);
  }

  line(path: FieldPath): number {
    return this.#document.place(path)?.line ?? 0;
  }

  /** @throws RejectedFileError with every problem so far. */
  check(): void {
    if (this.#problems.length > 0) throw new RejectedFileError(this.file, this.#problems);
  }

  /** Adds a problem for each item whose key an earlier item has, and returns the others. */
  unique<Item>(items: readonly Item[], at: FieldPath, what: string, keyOf: (item: Item) => string): Map<string, Item> {
    const found = new Map<string, Item>();
    const places = new Map<string, number>();
    for (const [index, item] of items.entries()) {
      const key = keyOf(item);
      const first = places.get(key);
      if (first === undefined) {
        places.set(key, index);
        found.set(key, item);
        continue;
      }
      this.add([...at, index], `has the same ${what} as line ${this.line([...at, first])}`);
    }
    return found;
  }
}

/** Keys from the root of the file to a value: `['instances', 0, 'rules', 3, 'value']`. */
export type FieldPath = readonly (string | number)[];

/** From 1. */
export interface FilePlace {
  line: number;
  column: number;
}

export interface Problem {
  /** `null`: of the file as a whole. */
  place: FilePlace | null;
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

/** The steps that a schema names. */
export function stepsOf(path: readonly PropertyKey[]): (string | number)[] {
  return path.map((step) => (typeof step === 'number' ? step : String(step)));
}

/** `rules.3.value` as steps. */
export function stepsIn(text: string): (string | number)[] {
  return text.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

export function pathText(path: FieldPath): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}
