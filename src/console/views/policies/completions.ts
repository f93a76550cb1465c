/**
 * What could stand at a place of a condition that is being written. It walks the words before the caret as the parser
 * does, and offers nothing behind a mistake: the parser's error is what helps there.
 */
import { policyFieldFacts, wordsOf } from '../../../contract/management/policy-set/policy-fields.ts';
import { type PolicyField, policyFields, type PolicyOperator } from '../../../contract/vocabulary.ts';
import { isField, isNot } from '../../../policies/text/read-test.ts';
import { Tokens, type Token } from '../../../policies/text/tokens.ts';

export interface Completions {
  /** What is replaced: the word at the caret, or nothing. */
  from: number;
  to: number;
  /** What is written of the word already. */
  typed: string;
  options: readonly Completion[];
}

/** Of a text or a word behind the caret, which the new one replaces. */
const REST_OF_TEXT = /^[\w.-]*"/;
const REST_OF_WORD = /^[A-Za-z0-9]*/;

/** `null`: nothing can be offered. */
export function completionsAt(text: string, caret: number): Completions | null {
  const before = text.slice(0, caret);
  const tokens = new Tokens(before);
  let place: ConditionPlace | null = condition;
  let open = 0;
  for (;;) {
    const { next } = tokens;
    const isText = next.kind === 'bad' && before.charAt(next.offset) === '"';
    const isWord = next.kind === 'word' && next.end === caret;
    if (isText || isWord || next.kind === 'end') {
      const from = next.kind === 'end' ? caret : next.offset;
      const rest = (isText ? REST_OF_TEXT : REST_OF_WORD).exec(text.slice(caret))?.[0] ?? '';
      const to = next.kind === 'end' ? caret : caret + rest.length;
      const typed = before.slice(from);
      const options = place.options(open > 0).filter((one) => fits(one, typed));
      if (options.length === 0) return null;
      const isGlued = from === caret && /[\w"\])]$/.test(before);
      return { from, to, typed, options: isGlued ? options.map(apart) : options };
    }
    if (next.kind === 'sign') open += next.value === '(' ? 1 : next.value === ')' ? -1 : 0;
    place = place.after(tokens.take());
    if (place === null) return null;
  }
}

/** The text with an option taken, and where the caret is then. */
export function withCompletion(
  text: string,
  { from, to }: Completions,
  { insert }: Completion,
): { text: string; caret: number } {
  const written = text.slice(0, from) + insert;
  const rest = text.slice(to);
  return { text: written + (insert.endsWith(' ') ? rest.replace(/^ /, '') : rest), caret: written.length };
}

function fits({ insert, label }: Completion, typed: string): boolean {
  const wanted = typed.toLowerCase();
  if (typed.startsWith('"')) {
    const isMeant = label.toLowerCase().includes(` ${wanted.slice(1)}`);
    return insert.startsWith('"') && (isMeant || insert.toLowerCase().startsWith(wanted));
  }
  return insert.toLowerCase().startsWith(wanted);
}

/** Behind a word or a text, a word needs a space. */
function apart(option: Completion): Completion {
  return /^[A-Za-z]/.test(option.insert) ? { ...option, insert: ` ${option.insert}` } : option;
}

/** A place of a condition. */
interface ConditionPlace {
  /** @param isInside whether a parenthesis is open. */
  options: (isInside: boolean) => readonly Completion[];
  /** The place behind a token. `null`: the token is a mistake here. */
  after: (token: Token) => ConditionPlace | null;
}

/** The comparison that a value belongs to: its field, with its name where it has one, and its operator. */
interface Compared {
  field: PolicyField;
  name: string | undefined;
  operator: PolicyOperator;
}

/** Where a condition begins. */
const condition: ConditionPlace = {
  options: () => [...policyFields.flatMap(fieldOptions), word('not'), sign('(')],
  after: (token) => {
    if (isSign(token, '(') || isOneWordOf(token, 'not')) return condition;
    if (!isField(token)) return null;
    const field = token.value as PolicyField;
    return policyFieldFacts[field].name === 'required' ? only(sign('["'), '[', namePlace(field)) : operatorPlace(field);
  },
};

/** Behind a whole comparison. */
const joint: ConditionPlace = {
  options: (isInside) => [word('and'), word('or'), ...(isInside ? [sign(')', ' ')] : [])],
  after: (token) => (isSign(token, ')') ? joint : isOneWordOf(token, 'and', 'or') ? condition : null),
};

function namePlace(field: PolicyField): ConditionPlace {
  return {
    options: () => namesOf(field).map((one) => ({ label: one, insert: `"${one}"] ` })),
    after: ({ kind, value }) => (kind === 'text' ? only(sign(']', ' '), ']', operatorPlace(field, value)) : null),
  };
}

function operatorPlace(field: PolicyField, named?: string, isNegated = false): ConditionPlace {
  const { operators, name: names } = policyFieldFacts[field];
  return {
    options: () => operators.map(word),
    after: (token) => {
      if (isSign(token, '[') && named === undefined && Array.isArray(names)) return namePlace(field);
      if (!isNegated && isNot(token)) return operatorPlace(field, named, true);
      const isSpelled = isSign(token, '==') || (!isNegated && isSign(token, '!='));
      const found = isSpelled ? 'equals' : operators.find((one) => isOneWordOf(token, one));
      if (found === undefined) return null;
      if (found === 'exists') return joint;
      const first = valuePlace({ field, name: named, operator: found });
      return isList(found) ? only(sign('['), '[', first) : first;
    },
  };
}

function valuePlace(compared: Compared): ConditionPlace {
  return {
    options: () => valueOptions(compared),
    after: ({ kind }) => {
      if (kind !== 'text' && kind !== 'number') return null;
      return isList(compared.operator) ? morePlace(compared) : joint;
    },
  };
}

/** Behind a value of a list. */
function morePlace(compared: Compared): ConditionPlace {
  return {
    options: () => [sign(',', ' '), sign(']', ' ')],
    after: (token) => (isSign(token, ',') ? valuePlace(compared) : isSign(token, ']') ? joint : null),
  };
}

/** Where nothing but one sign can stand. */
function only(option: Completion, expected: string, next: ConditionPlace): ConditionPlace {
  return { options: () => [option], after: (token) => (isSign(token, expected) ? next : null) };
}

function isSign({ kind, value }: Token, wanted: string): boolean {
  return kind === 'sign' && value === wanted;
}

function isOneWordOf({ kind, value }: Token, ...wanted: string[]): boolean {
  return kind === 'word' && wanted.includes(value);
}

function isList(operator: PolicyOperator): boolean {
  return operator === 'in' || operator === 'ipIn';
}

export interface Completion {
  /** What is read: the word itself, or a value with what it means. */
  label: string;
  /** What is written: with quotes, and with the space behind it. */
  insert: string;
}

const word = (label: string): Completion => ({ label, insert: `${label} ` });
const sign = (label: string, behind = ''): Completion => ({ label, insert: label + behind });

/** Headers that conditions are often about. */
const HEADERS: readonly string[] = [
  'accept',
  'accept-language',
  'authorization',
  'content-type',
  'origin',
  'referer',
  'sec-fetch-site',
  'x-requested-with',
];
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

function fieldOptions(field: PolicyField): Completion[] {
  const { name } = policyFieldFacts[field];
  if (name === 'required') return [{ label: `${field}["…"]`, insert: `${field}["` }];
  const named = (name ?? []).map((one) => word(`${field}["${one}"]`));
  return [word(field), ...named];
}

/** Names that a field often has. */
export function namesOf(field: PolicyField): readonly string[] {
  const { name } = policyFieldFacts[field];
  if (field === 'header') return HEADERS;
  return name === undefined || name === 'required' ? [] : name;
}

function valueOptions({ field, name, operator }: Compared): Completion[] {
  // Parts of words are typed.
  if (operator !== 'equals' && operator !== 'in') return [];
  const behind = operator === 'equals' ? ' ' : '';
  const option = (value: string, about = ''): Completion => ({
    label: about === '' ? value : `${value} – ${about}`,
    insert: `"${value}"${behind}`,
  });
  const words = wordsOf(field, name) ?? (field === 'method' ? METHODS : null);
  if (words !== null) return words.map((one) => option(one));
  return field === 'country' ? countriesOnce().map(([code, about]) => option(code, about)) : [];
}

/** Values that a field often has, where others can be written too. */
export function suggestedValues(field: PolicyField): readonly string[] {
  if (field === 'country') return countriesOnce().map(([code]) => code);
  return field === 'method' ? METHODS : [];
}

const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
/** Groups of countries, and codes for trials. */
const NO_COUNTRY = /^(?:EU|EZ|QO|UN|X[AB]|ZZ)$/;
const countryNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

let countries: (readonly [code: string, name: string])[] | null = null;

function countriesOnce(): readonly (readonly [code: string, name: string])[] {
  countries ??= [...countryCodes(), ['T1', 'Tor']];
  return countries;
}

function countryCodes(): (readonly [code: string, name: string])[] {
  return LETTERS.flatMap((first) => LETTERS.map((second) => first + second)).flatMap((code) => {
    const name = countryNames.of(code);
    // Codes that are no longer used are other codes by now.
    const isCurrent = new Intl.Locale(`und-${code}`).region === code && !NO_COUNTRY.test(code);
    return name === undefined || !isCurrent ? [] : [[code, name] as const];
  });
}
