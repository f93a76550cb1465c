/** Collects the problems of one file, so that a reader sees all of them at once. */
import type { ConfigDocument } from './document.ts';
import { type Path, pathText, type Problem, RejectedFileError } from './problem.ts';

export class Report {
  readonly file: string;
  readonly #document: ConfigDocument;
  readonly #problems: Problem[] = [];

  constructor(file: string, document: ConfigDocument) {
    this.file = file;
    this.#document = document;
  }

  problem(path: Path, message: string): Problem {
    return { place: this.#document.place(path), path: pathText(path), message };
  }

  add(path: Path, message: string): void {
    this.#problems.push(this.problem(path, message));
  }

  addAll(problems: readonly Problem[]): void {
    for (const problem of problems) this.#problems.push(problem);
  }

  line(path: Path): number {
    return this.#document.place(path)?.line ?? 0;
  }

  /** @throws RejectedFileError with every problem so far. */
  check(): void {
    if (this.#problems.length > 0) throw new RejectedFileError(this.file, this.#problems);
  }

  /** Adds a problem for each item whose key an earlier item has, and returns the others. */
  unique<Item>(items: readonly Item[], at: Path, what: string, keyOf: (item: Item) => string): Map<string, Item> {
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
