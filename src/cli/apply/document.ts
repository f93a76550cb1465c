/**
 * A YAML or JSON file as a value, with the place of every part of it. YAML is always read by the core schema of version
 * 1.2, where `NO` is a text, whatever the file declares. JSON is read as YAML, which it is a part of.
 */
import {
  Composer,
  Document,
  LineCounter,
  Parser,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  type CST,
  type Node,
  type ParsedNode,
  type Scalar,
  visit,
} from 'yaml';
import type { FieldPath, FilePlace, Problem } from './report.ts';

/** A file of aliases that stand for aliases must not fill the memory. */
const ALIASES_MAX = 100;
const DEPTH_MAX = 64;
const OPTIONS = { version: '1.2', schema: 'core', merge: false } as const;
/** Names that mean something else to JavaScript than to a reader. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export class ConfigDocument {
  readonly #lines = new LineCounter();
  readonly #document: Document;
  /** `undefined` if there are problems. */
  readonly value: unknown;
  readonly problems: readonly Problem[];

  constructor(text: string) {
    const documents: Document[] = [];
    const problems: Problem[] = [];
    try {
      const tokens = shallow(new Parser(this.#lines.addNewLine).parse(text));
      documents.push(...new Composer(OPTIONS).compose(tokens, true, text.length));
    } catch (error) {
      if (!(error instanceof NestingError)) throw error;
      problems.push({ place: this.#placeAt(error.offset), path: '', message: 'is nested too deeply' });
    }
    this.#document = documents[0] ?? new Document(null);
    problems.push(...this.#syntaxProblems(), ...this.#keyProblems());
    if (documents[1] !== undefined) {
      const place = this.#placeAt(documents[1].range?.[0] ?? 0);
      problems.push({ place, path: '', message: 'is a second document. A file has one' });
    }
    const read = problems.length === 0 ? this.#toValue() : null;
    if (read !== null && 'problem' in read) problems.push(read.problem);
    this.problems = problems;
    this.value = read !== null && 'value' in read ? read.value : undefined;
  }

  /** Of the value at the path, or of the nearest part around it that the file has. */
  place(path: FieldPath): FilePlace | null {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = this.#nodeAt(path.slice(0, length));
      if (node?.range) return this.#placeAt(node.range[0]);
    }
    return null;
  }

  has(path: FieldPath): boolean {
    return this.#nodeAt(path) !== null;
  }

  /** Of the key and not of its value. */
  keyPlace(path: FieldPath, key: string): FilePlace | null {
    const parent = this.#nodeAt(path);
    const pair = isMap(parent) ? parent.items.find((item) => isScalar(item.key) && item.key.value === key) : undefined;
    const node = pair?.key as Node | undefined;
    return node?.range ? this.#placeAt(node.range[0]) : this.place(path);
  }

  /** The text of a scalar as it is written, such as `1e3`. `null`: it is no scalar without quotes. */
  written(path: FieldPath): string | null {
    const node = this.#nodeAt(path);
    return isScalar(node) && node.type === 'PLAIN' ? ((node as Scalar & { source?: string }).source ?? null) : null;
  }

  #nodeAt(path: FieldPath): Node | null {
    let node: unknown = this.#document.contents;
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(this.#document);
      if (!isCollection(node)) return null;
      node = node.get(step, true);
    }
    return ((isAlias(node) ? node.resolve(this.#document) : node) ?? null) as Node | null;
  }

  #placeAt(offset: number): FilePlace {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }

  #syntaxProblems(): Problem[] {
    const { errors, warnings } = this.#document;
    return [...errors, ...warnings].map(({ pos, message }) => ({
      place: this.#placeAt(pos[0]),
      path: '',
      message: sentence(message),
    }));
  }

  #keyProblems(): Problem[] {
    const problems: Problem[] = [];
    visit(this.#document, {
      Pair: (_, { key }) => {
        const name = isScalar(key) ? key.value : undefined;
        if (typeof name === 'string' && !FORBIDDEN_KEYS.has(name)) return;
        const { range } = key as ParsedNode;
        const message = typeof name === 'string' ? `${name} cannot be a key` : 'a key must be a text. Put it in quotes';
        problems.push({ place: range ? this.#placeAt(range[0]) : null, path: '', message });
      },
    });
    return problems;
  }

  #toValue(): { value: unknown } | { problem: Problem } {
    try {
      return { value: this.#document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown };
    } catch (error) {
      return { problem: { place: null, path: '', message: sentence(error instanceof Error ? error.message : '') } };
    }
  }
}

function sentence(message: string): string {
  return message.replace(/\s+/g, ' ').trim();
}

class NestingError extends Error {
  readonly offset: number;
  constructor(offset: number) {
    super('nested too deeply');
    this.offset = offset;
  }
}

/** The composer calls itself for each level, so a file of a million brackets would overflow its stack. */
function* shallow(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  for (const token of tokens) {
    checkDepth(token);
    yield token;
  }
}

/** @throws NestingError */
function checkDepth(root: CST.Token): void {
  const waiting: { token: CST.Token; depth: number }[] = [{ token: root, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { token, depth } = next;
    if (depth > DEPTH_MAX) throw new NestingError(token.offset);
    if (token.type === 'document' && token.value) waiting.push({ token: token.value, depth });
    if (!('items' in token)) continue;
    for (const item of token.items) {
      if (isNested(item.key)) waiting.push({ token: item.key, depth: depth + 1 });
      if (isNested(item.value)) waiting.push({ token: item.value, depth: depth + 1 });
    }
  }
}

const isNested = (token: CST.Token | null | undefined): token is CST.Token => token != null && 'items' in token;
