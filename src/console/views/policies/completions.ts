/**
 * What could stand at a place of a condition that is being written. It walks the words before the caret as the parser
 * does, and offers nothing behind a mistake: the parser's error is what helps there.
 */
import { policyFieldFacts, wordsOf } from '../../../contract/management/policy-set/policy-fields.ts';
import { type PolicyField, policyFields, type PolicyOperator } from '../../../contract/vocabulary.ts';
import { isField } from '../../../policies/text/read-test.ts';
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
export function completionsAt(text: string, caret: number, known: KnownValues): Completions | null {
  const before = text.slice(0, caret);
  const tokens = new Tokens(before);
  let place: ConditionPlace | null = { kind: 'condition' };
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
      const options = optionsAt(place, { isOpen: open > 0, known }).filter((one) => fits(one, typed));
      if (options.length === 0) return null;
      const isGlued = from === caret && /[\w"\])]$/.test(before);
      return { from, to, typed, options: isGlued ? options.map(apart) : options };
    }
    if (next.kind === 'sign') open += next.value === '(' ? 1 : next.value === ')' ? -1 : 0;
    place = after(place, tokens.take());
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

/** `null`: this word is a mistake there. */
function after(place: ConditionPlace, token: Token): ConditionPlace | null {
  const { kind, value } = token;
  const isSign = (sign: string): boolean => kind === 'sign' && value === sign;
  const isWord = (...words: string[]): boolean => kind === 'word' && words.includes(value);
  switch (place.kind) {
    case 'condition':
      if (isSign('(') || isWord('not')) return place;
      return isField(token) ? afterField(value as PolicyField) : null;
    case 'bracket':
      return isSign('[') ? { kind: 'name', field: place.field } : null;
    case 'name':
      return kind === 'text' ? { kind: 'bracket-end', field: place.field, name: value } : null;
    case 'bracket-end':
      return isSign(']') ? { ...place, kind: 'operator' } : null;
    case 'operator':
      return afterOperator(place, token);
    case 'list':
      return isSign('[') ? { ...place, kind: 'value' } : null;
    case 'value':
      if (kind !== 'text' && kind !== 'number') return null;
      return isList(place.operator) ? { ...place, kind: 'more' } : { kind: 'joint' };
    case 'more':
      return isSign(',') ? { ...place, kind: 'value' } : isSign(']') ? { kind: 'joint' } : null;
    case 'joint':
      if (isSign(')')) return place;
      return isWord('and', 'or') ? { kind: 'condition' } : null;
  }
}

function afterField(field: PolicyField): ConditionPlace {
  return policyFieldFacts[field].name === 'required'
    ? { kind: 'bracket', field }
    : { kind: 'operator', field, name: undefined };
}

function afterOperator(
  { field, name }: { field: PolicyField; name: string | undefined },
  token: Token,
): ConditionPlace | null {
  const facts = policyFieldFacts[field];
  if (token.kind === 'sign' && token.value === '[' && name === undefined && Array.isArray(facts.name)) {
    return { kind: 'name', field };
  }
  const operator = facts.operators.find((one) => token.kind === 'word' && one === token.value);
  if (operator === undefined) return null;
  if (operator === 'exists') return { kind: 'joint' };
  return { kind: isList(operator) ? 'list' : 'value', field, name, operator };
}

function isList(operator: PolicyOperator): boolean {
  return operator === 'in' || operator === 'ipIn';
}

/** The comparison that a value belongs to: its field, with its name where it has one, and its operator. */
interface Compared {
  field: PolicyField;
  name: string | undefined;
  operator: PolicyOperator;
}

/** What stands next. `more`: behind a value of a list. `joint`: behind a whole comparison. */
export type ConditionPlace =
  | { kind: 'condition' }
  | { kind: 'bracket'; field: PolicyField }
  | { kind: 'name'; field: PolicyField }
  | { kind: 'bracket-end'; field: PolicyField; name: string }
  | { kind: 'operator'; field: PolicyField; name: string | undefined }
  | ({ kind: 'list' | 'value' | 'more' } & Compared)
  | { kind: 'joint' };

export interface Completion {
  /** What is read: the word itself, or a value with what it means. */
  label: string;
  /** What is written: with quotes, and with the space behind it. */
  insert: string;
}

/** Values worth offering, beside those that a field only can have. `about`: what a value means. */
export type KnownValues = (
  field: PolicyField,
  name: string | undefined,
) => readonly (readonly [value: string, about: string])[];

export interface Around {
  /** Whether a parenthesis is open. */
  isOpen: boolean;
  known: KnownValues;
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

function optionsAt(place: ConditionPlace, { isOpen, known }: Around): readonly Completion[] {
  switch (place.kind) {
    case 'condition':
      return [...policyFields.flatMap(fieldOptions), word('not'), sign('(')];
    case 'bracket':
      return [sign('["')];
    case 'name':
      return namesOf(place.field).map((name) => ({ label: name, insert: `"${name}"] ` }));
    case 'bracket-end':
      return [sign(']', ' ')];
    case 'operator':
      return policyFieldFacts[place.field].operators.map(word);
    case 'list':
      return [sign('[')];
    case 'value':
      return valueOptions(place, known);
    case 'more':
      return [sign(',', ' '), sign(']', ' ')];
    case 'joint':
      return [word('and'), word('or'), ...(isOpen ? [sign(')', ' ')] : [])];
  }
}

function fieldOptions(field: PolicyField): Completion[] {
  const { name } = policyFieldFacts[field];
  if (name === 'required') return [{ label: `${field}["…"]`, insert: `${field}["` }];
  const named = (name ?? []).map((one) => word(`${field}["${one}"]`));
  return [word(field), ...named];
}

function namesOf(field: PolicyField): readonly string[] {
  const { name } = policyFieldFacts[field];
  if (field === 'header') return HEADERS;
  return name === undefined || name === 'required' ? [] : name;
}

function valueOptions(
  { field, name, operator }: Extract<ConditionPlace, { kind: 'value' | 'list' | 'more' }>,
  known: KnownValues,
): Completion[] {
  // Parts of words are typed.
  if (operator !== 'equals' && operator !== 'in') return [];
  const behind = operator === 'equals' ? ' ' : '';
  const option = (value: string, about = ''): Completion => ({
    label: about === '' ? value : `${value} – ${about}`,
    insert: `"${value}"${behind}`,
  });
  const words = wordsOf(field, name) ?? (field === 'method' ? METHODS : null);
  return words === null
    ? known(field, name).map(([value, about]) => option(value, about))
    : words.map((one) => option(one));
}
