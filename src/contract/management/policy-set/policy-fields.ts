/**
 * What the fields of a policy's condition hold, and which operators each of them takes. No zod: the schema, the parser of
 * the text form, the edge's compiler and the console read this table.
 */
import {
  agentWords,
  deviceTypes,
  ipCategories,
  namedBehaviours,
  namedProofs,
  pathTypes,
  type PolicyField,
  type PolicyOperator,
  sessionStatuses,
} from '../../vocabulary.ts';

/** Nested groups and negations of one condition, itself included. */
export const EXPRESSION_DEPTH_MAX = 32;
/** Groups, negations and tests of one condition. */
export const EXPRESSION_NODES_MAX = 256;
export const TEST_VALUES_MAX = 500;
export const TEST_TEXT_MAX_CHARS = 512;
export const TEST_NAME_MAX_CHARS = 128;
export const ASN_MAX = 4_294_967_295;
/** Policies that the gate has of its own: `policy:<name>` in the log must mean one thing. */
export const GATE_POLICIES: readonly string[] = ['hosts'];

export interface PolicyFieldFacts {
  operators: readonly PolicyOperator[];
  /** Type of the values that the field is compared with. */
  values: 'text' | 'number' | 'address';
  /** `required`: as in `header["accept"]`. A list: the only names, and the field also stands without one. */
  name?: 'required' | readonly string[];
  /** The only texts that the field ever is. */
  words?: readonly string[];
}

const textOperators = ['equals', 'in', 'startsWith', 'endsWith', 'contains', 'matches', 'exists'] as const;
const numberOperators = ['equals', 'in', 'greaterThan', 'exists'] as const;
const wordOperators = ['equals', 'in', 'exists'] as const;

const text: PolicyFieldFacts = { operators: textOperators, values: 'text' };
const named: PolicyFieldFacts = { ...text, name: 'required' };

export const policyFieldFacts: Readonly<Record<PolicyField, PolicyFieldFacts>> = {
  host: text,
  path: text,
  method: text,
  query: named,
  header: named,
  cookie: named,
  ip: { operators: ['equals', 'in', 'ipIn', 'exists'], values: 'address' },
  asn: { operators: numberOperators, values: 'number' },
  country: text,
  ja4: text,
  userAgent: text,
  deviceType: { ...text, words: deviceTypes },
  bot: { operators: wordOperators, values: 'text', name: ['behaviour', 'proof'] },
  agent: { operators: wordOperators, values: 'text', words: agentWords },
  ipCategory: { operators: wordOperators, values: 'text', words: ipCategories },
  sessionStatus: { ...text, words: sessionStatuses },
  riskScore: { operators: numberOperators, values: 'number' },
  pathType: { ...text, words: pathTypes },
};

/** The only texts that this field, or this name of it, ever is. */
export function wordsOf(field: PolicyField, name: string | undefined): readonly string[] | undefined {
  if (field === 'bot' && name !== undefined) return name === 'proof' ? namedProofs : namedBehaviours;
  return policyFieldFacts[field].words;
}
