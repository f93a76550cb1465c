/**
 * Reads a CEL expression of an Anubis policy as a condition: comparisons of the request's texts, whether a header or a
 * query parameter is there, and `!`, `&&`, `||`. Arithmetic, chance, load and look-ups in DNS have no counterpart.
 */
import { parseIp } from '../../../address/ip.ts';
import { all, any, type Condition, exists, negated, oneOf } from '../condition.ts';
import { NotExpressible } from '../report.ts';
import { type Lexicon, quotedText, Reader, scan } from '../scan.ts';
import {
  compareLength,
  compareRegex,
  compareText,
  type DifferenceNotes,
  type TextOperator,
  type TextSubject,
} from '../text-subject.ts';

type Operand =
  | ({ kind: 'subject' } & TextSubject)
  | ({ kind: 'size' } & TextSubject)
  | { kind: 'map'; field: 'header' | 'query' }
  | { kind: 'text'; value: string }
  | { kind: 'number'; value: number }
  | { kind: 'texts'; values: string[] }
  | { kind: 'condition'; condition: Condition };

const subjects: Readonly<Record<string, TextSubject>> = {
  userAgent: { field: 'userAgent', letterCase: 'exact' },
  path: { field: 'path', letterCase: 'exact' },
  host: { field: 'host', letterCase: 'exact' },
  method: { field: 'method', letterCase: 'exact' },
  remoteAddress: { field: 'ip', letterCase: 'exact' },
};
const maps: Readonly<Record<string, 'header' | 'query'>> = { headers: 'header', query: 'query' };
const methods: readonly string[] = ['startsWith', 'endsWith', 'contains'];

/** @throws NotExpressible */
export function readCel(source: string, differences: DifferenceNotes): Condition {
  return new CelReader(new Reader(scan(source, celLexicon)), differences).whole();
}

class CelReader {
  readonly #reader: Reader;
  readonly #differences: DifferenceNotes;

  constructor(reader: Reader, differences: DifferenceNotes) {
    this.#reader = reader;
    this.#differences = differences;
  }

  whole(): Condition {
    const condition = this.#condition(this.#or());
    if (this.#reader.next.kind !== 'end') throw this.#reader.unexpected('"&&", "||" or the end');
    return condition;
  }

  #or(): Operand {
    return this.#joined('||', () => this.#and(), any);
  }

  #and(): Operand {
    return this.#joined('&&', () => this.#relation(), all);
  }

  /** One operand, or several conditions with this sign between them. */
  #joined(sign: string, next: () => Operand, join: (parts: readonly Condition[]) => Condition): Operand {
    const first = next();
    if (!this.#reader.skips(sign)) return first;
    const parts = [this.#condition(first)];
    do parts.push(this.#condition(next()));
    while (this.#reader.skips(sign));
    return { kind: 'condition', condition: join(parts) };
  }

  #relation(): Operand {
    const left = this.#operand();
    const { value: operator } = this.#reader.next;
    if (!this.#reader.skips('==', '!=', '<', '<=', '>', '>=', 'in')) return left;
    const right = this.#operand();
    return { kind: 'condition', condition: this.#compared(left, operator, right) };
  }

  #compared(left: Operand, operator: string, right: Operand): Condition {
    if (operator === 'in') return this.#contained(left, right);
    if (left.kind === 'size' && right.kind === 'number') return compareLength(left, `${operator} ${right.value}`);
    if (operator !== '==' && operator !== '!=') {
      throw new NotExpressible(`a policy compares no text with ${operator}`);
    }
    const equal = this.#equal(left, right) ?? this.#equal(right, left);
    if (equal === null) throw new NotExpressible('a policy compares fields of the request with texts only');
    return operator === '==' ? equal : negated(equal);
  }

  #equal(left: Operand, right: Operand): Condition | null {
    if (left.kind === 'condition' && right.kind === 'condition' && typeof right.condition === 'boolean') {
      return right.condition ? left.condition : negated(left.condition);
    }
    if (left.kind !== 'subject' || right.kind !== 'text') return null;
    return this.#equals(left, [right.value]);
  }

  #contained(left: Operand, right: Operand): Condition {
    if (left.kind === 'text' && right.kind === 'map') return exists({ field: right.field, name: left.value });
    if (left.kind === 'subject' && right.kind === 'texts') return this.#equals(left, right.values);
    throw new NotExpressible('a policy looks for a text in a list, and for a name among headers and query parameters');
  }

  #equals(subject: TextSubject, values: readonly string[]): Condition {
    if (subject.field !== 'ip') return compareText(subject, 'equals', values, this.#differences);
    if (values.some((value) => parseIp(value) === null)) throw new NotExpressible('this is no address');
    return oneOf({ field: 'ip' }, 'ipIn', values);
  }

  #operand(): Operand {
    return this.#reader.nested(() => {
      if (this.#reader.skips('!')) {
        return { kind: 'condition', condition: negated(this.#condition(this.#operand())) };
      }
      let operand = this.#primary();
      for (;;) {
        if (this.#reader.skips('[')) operand = this.#indexed(operand);
        else if (this.#reader.skips('.')) operand = this.#member(operand);
        else return operand;
      }
    });
  }

  #primary(): Operand {
    if (this.#reader.skips('(')) {
      const inner = this.#or();
      this.#reader.needs(')');
      return inner;
    }
    if (this.#reader.skips('[')) return { kind: 'texts', values: this.#texts(']') };
    const { kind, value } = this.#reader.next;
    if (kind !== 'text' && kind !== 'word') throw this.#reader.unexpected('a field of the request or a text');
    this.#reader.take();
    if (kind === 'text') return { kind: 'text', value };
    if (/^\d/.test(value)) return { kind: 'number', value: Number(value) };
    if (value === 'true' || value === 'false') return { kind: 'condition', condition: value === 'true' };
    if (this.#reader.skips('(')) return this.#called(value);
    if (Object.hasOwn(subjects, value)) return { kind: 'subject', ...subjects[value]! };
    if (Object.hasOwn(maps, value)) return { kind: 'map', field: maps[value]! };
    throw new NotExpressible(`${value.slice(0, 60)} has no counterpart`);
  }

  #called(name: string): Operand {
    const first = name === 'size' || name === 'missingHeader' ? this.#or() : null;
    if (first?.kind === 'subject' && name === 'size') {
      this.#reader.needs(')');
      return { ...first, kind: 'size' };
    }
    if (first?.kind === 'map' && name === 'missingHeader') {
      this.#reader.needs(',');
      const header = this.#reader.text().value;
      this.#reader.needs(')');
      return { kind: 'condition', condition: negated(exists({ field: 'header', name: header })) };
    }
    throw new NotExpressible(`a policy has nothing like ${name.slice(0, 60)}() of this`);
  }

  #indexed(operand: Operand): Operand {
    if (operand.kind !== 'map') throw new NotExpressible('a policy knows headers and query parameters by name only');
    const name = this.#reader.text().value;
    this.#reader.needs(']');
    return { kind: 'subject', field: operand.field, name, letterCase: 'exact' };
  }

  #member(operand: Operand): Operand {
    const name = this.#reader.take().value;
    if (!this.#reader.skips('(') || operand.kind !== 'subject' || operand.field === 'ip') {
      throw new NotExpressible(`a policy has nothing like .${name.slice(0, 60)} of this`);
    }
    if (name === 'lowerAscii' || name === 'size') {
      this.#reader.needs(')');
      return name === 'size' ? { ...operand, kind: 'size' } : { ...operand, letterCase: 'lower' };
    }
    const [text, ...more] = this.#texts(')');
    if (text === undefined || more.length > 0) throw this.#reader.unexpected('one text');
    if (name === 'matches') return { kind: 'condition', condition: compareRegex(operand, text, this.#differences) };
    if (!methods.includes(name)) throw new NotExpressible(`a policy has nothing like .${name.slice(0, 60)}()`);
    const condition = compareText(operand, name as TextOperator, [text], this.#differences);
    return { kind: 'condition', condition };
  }

  /** Texts with commas between them, up to this sign. */
  #texts(closing: string): string[] {
    const values: string[] = [];
    while (!this.#reader.skips(closing)) {
      if (values.length > 0) this.#reader.needs(',');
      if (values.length > 0 && this.#reader.skips(closing)) break;
      values.push(this.#reader.text().value);
    }
    return values;
  }

  #condition(operand: Operand): Condition {
    if (operand.kind === 'condition') return operand.condition;
    throw this.#reader.unexpected('a comparison');
  }
}

const QUOTED = /(r?)("""|'''|"|')/y;
const ESCAPED = /\\(?:([\\"'`?])|([nrt])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))/y;
const control: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Words of CEL, the language of Anubis's expressions. */
const celLexicon: Lexicon = {
  word: /[A-Za-z_][A-Za-z0-9_]*|\d+(?:\.\d+)?/y,
  signs: '&& || == != <= >= < > ! ( ) { } [ ] , . ? : + - * / %'.split(' '),
  textAt: (source, offset) => {
    QUOTED.lastIndex = offset;
    const [opening, raw, quote] = QUOTED.exec(source) ?? [];
    if (opening === undefined || quote === undefined) return null;
    const escapeAt = raw === 'r' ? () => ({ value: '\\', chars: 1 }) : (at: number) => escapeOf(source, at);
    return quotedText(source, offset + opening.length, quote, escapeAt);
  },
};

function escapeOf(source: string, at: number): { value: string; chars: number } {
  ESCAPED.lastIndex = at;
  const [whole, sign, letter, ...codes] = ESCAPED.exec(source) ?? [];
  if (whole === undefined) throw new NotExpressible(`unknown escape at character ${at + 1}`);
  const code = codes.find((one) => one !== undefined);
  const value = sign ?? (letter === undefined ? String.fromCharCode(Number.parseInt(code!, 16)) : control[letter]!);
  return { value, chars: whole.length };
}
