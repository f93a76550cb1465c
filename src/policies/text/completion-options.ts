/** The words, signs and values that can stand at one place of a condition. */
import { policyFieldFacts, wordsOf } from '../../contract/management/policy-set/policy-fields.ts';
import { type PolicyField, policyFields, type PolicyOperator } from '../../contract/vocabulary.ts';

interface Compared {
  field: PolicyField;
  name: string | undefined;
  operator: PolicyOperator;
}

/** What stands next. `more`: behind a value of a list. `joint`: behind a whole comparison. */
export type Place =
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

export function optionsAt(place: Place, { isOpen, known }: Around): readonly Completion[] {
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
  { field, name, operator }: Extract<Place, { kind: 'value' | 'list' | 'more' }>,
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
