/**
 * Comparisons of a text with what the other product compares it with. A policy compares paths, hosts and user agents
 * without regard to letter case, and headers, cookies and query parameters exactly. Where the other product does not,
 * that is a difference to be told, or the rule cannot be taken.
 */
import { any, type Condition, equalsText, isEmpty, negated, oneOf, type Subject } from './condition.ts';
import { readRegex, type TextForm } from './regex.ts';
import { NotExpressible } from './report.ts';

export interface TextSubject extends Subject {
  /** `lower`: the rule makes the text lower-case first. `folded`: the rule ignores letter case. */
  letterCase: 'exact' | 'lower' | 'folded';
}

export type TextOperator = 'equals' | 'startsWith' | 'endsWith' | 'contains';

const caseless: readonly Subject['field'][] = ['path', 'host', 'userAgent', 'ja4'];
/** Their values are in capitals on both sides. */
const inCapitals: readonly Subject['field'][] = ['method', 'country'];

/** Without what else is known of it. */
function bare({ field, name }: Subject): Subject {
  return name === undefined ? { field } : { field, name };
}

/** Collects what a policy does otherwise, each once. */
export type DifferenceNotes = Set<string>;

export const PATH_DIFFERENCE =
  'a path is compared in every way in which an origin may read it (escapes, "//", "..", letter case); the strictest result counts';
export const CASE_DIFFERENCE = 'user agents are compared without regard to letter case';

export function compareText(
  subject: TextSubject,
  operator: TextOperator,
  values: readonly string[],
  differences: DifferenceNotes,
): Condition {
  const { field } = subject;
  const tested = bare(subject);
  const reachable = values.filter((value) => canBe(subject, value, differences));
  if (operator !== 'equals') {
    return any(
      reachable.map((value) =>
        value === '' ? true : { ...tested, operator, value: fromStart(field, operator, value) },
      ),
    );
  }
  const filled = reachable.filter((value) => value !== '');
  const empty = filled.length < reachable.length ? [equalsText(tested, '')] : [];
  return any([...(filled.length > 0 ? [oneOf(tested, 'in', filled)] : []), ...empty]);
}

/** `pattern`: `null` stands for any text. */
export function compareForm(subject: TextSubject, form: TextForm, differences: DifferenceNotes): Condition {
  const { start, end, pieces } = form;
  const [first = '', ...more] = pieces;
  if (pieces.length === 0) return start && end ? compareText(subject, 'equals', [''], differences) : true;
  if (more.length === 0 && first !== null) {
    const operator = start ? (end ? 'equals' : 'startsWith') : end ? 'endsWith' : 'contains';
    return compareText(subject, operator, [first], differences);
  }
  const { field } = subject;
  const literals = pieces.filter((piece) => piece !== null);
  if (literals.some((literal) => literal.includes('*'))) {
    throw new NotExpressible('a "*" beside a wildcard cannot be said in a pattern');
  }
  if (!literals.every((literal) => canBe(subject, literal, differences))) return false;
  // In a path, one star would stay within a segment.
  const star = field === 'path' ? '**' : '*';
  const inner = pieces.map((piece) => piece ?? star).join('');
  const value = `${start ? '' : star}${inner}${end ? '' : star}`;
  return { ...bare(subject), operator: 'matches', value: fromStart(field, 'matches', value) };
}

/** Only whether a text is empty. `comparison`: such as `== 0`, or `eq 0`. */
export function compareLength(subject: TextSubject, comparison: string): Condition {
  const empty = isEmpty(bare(subject));
  if (['== 0', '< 1', '<= 0', 'eq 0', 'lt 1', 'le 0'].includes(comparison)) return empty;
  if (['!= 0', '> 0', '>= 1', 'ne 0', 'gt 0', 'ge 1'].includes(comparison)) return negated(empty);
  throw new NotExpressible('a policy does not know how long a text is, only whether it is empty');
}

export function compareRegex(subject: TextSubject, source: string, differences: DifferenceNotes): Condition {
  const { forms, ignoresCase } = readRegex(source);
  const letterCase = ignoresCase === true ? 'folded' : subject.letterCase;
  const parts = forms.map((form) => compareForm({ ...subject, letterCase }, form, differences));
  return joined(parts);
}

/** Many comparisons for equality as one. */
function joined(parts: readonly Condition[]): Condition {
  const equal = parts.filter(isEquality) as (Subject & { value: string })[];
  const [first] = equal;
  if (first === undefined || equal.length < 2) return any(parts);
  const values = equal.map(({ value }) => value);
  return any([oneOf(bare(first), 'in', [...new Set(values)]), ...parts.filter((part) => !isEquality(part))]);
}

function isEquality(part: Condition): boolean {
  return typeof part === 'object' && 'operator' in part && part.operator === 'equals';
}

/** Whether the text can have this value, given what happened to its letter case. Notes what differs. */
function canBe({ field, letterCase }: TextSubject, value: string, differences: DifferenceNotes): boolean {
  const hasLetters = value.toLowerCase() !== value.toUpperCase();
  if (field === 'path') differences.add(PATH_DIFFERENCE);
  if (!hasLetters) return true;
  if (letterCase === 'lower' && value !== value.toLowerCase()) return false;
  if (caseless.includes(field)) {
    if (letterCase === 'exact' && field === 'userAgent') differences.add(CASE_DIFFERENCE);
    return true;
  }
  if (letterCase === 'exact' || (letterCase === 'folded' && inCapitals.includes(field))) return true;
  throw new NotExpressible(`a ${field} is compared exactly, and this rule ignores letter case`);
}

/** A path begins with a slash, so a comparison from its start with anything else holds for none. */
function fromStart(field: Subject['field'], operator: TextOperator | 'matches', value: string): string {
  const isFromStart = operator === 'equals' || operator === 'startsWith' || operator === 'matches';
  if (field === 'path' && isFromStart && !/^[/*]/.test(value)) {
    throw new NotExpressible(`no path begins with "${value.slice(0, 20)}"; paths begin with "/"`);
  }
  return value;
}
