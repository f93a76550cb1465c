/**
 * What an import made of each rule of another product. A rule is taken only as a whole: one whose condition could be
 * said in part is not expressible, because the rest of it would match other requests.
 */
import type { Policy } from '../../contract/management/policy-set/policy.ts';
import { GATE_POLICIES } from '../../contract/management/policy-set/policy-fields.ts';

export interface ImportedRule {
  /** Where the rule is, such as `line 3` or `rule 2`. */
  place: string;
  /** The rule's name there, or the beginning of its expression. */
  source: string;
  outcome: 'taken' | 'taken-with-a-difference' | 'not-expressible';
  policy: Policy | null;
  /** What the policy does otherwise than the rule did. */
  differences: string[];
  /** Why the rule is not expressible. */
  reason: string | null;
}

export interface ImportReport {
  rules: ImportedRule[];
  /** What the file says beside its rules, and the import leaves out. */
  notes: string[];
}

type ImportAction = 'allow' | 'challenge' | 'block';

export interface ImportSettings {
  /** `monitor`: the policies are recorded and do nothing yet. */
  mode: Policy['mode'];
  /** Of rules that have no action of their own. */
  action: ImportAction;
}

/** Of a file. */
export const IMPORT_MAX_CHARS = 512 * 1024;
/** Of one expression of the other product. */
export const SOURCE_MAX_CHARS = 16_384;
const SHOWN_MAX_CHARS = 120;

/** A reason why the rule at hand cannot be taken. Thrown from deep in an expression, and caught once for each rule. */
export class NotExpressible extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NotExpressible';
  }
}

export function shownSource(source: string): string {
  const line = source.replace(/\s+/g, ' ').trim();
  return line.length > SHOWN_MAX_CHARS ? `${line.slice(0, SHOWN_MAX_CHARS)}…` : line;
}

const NAME_MAX_CHARS = 48;

/** Names for imported policies: from what the rule is called there, each once. */
export class PolicyNames {
  readonly #taken: Set<string>;

  constructor(taken: readonly string[] = []) {
    this.#taken = new Set([...GATE_POLICIES, ...taken]);
  }

  /** `fallback`: for a text that has no letter or digit of a name. */
  next(text: string, fallback: string): string {
    const bare = text
      .slice(0, 500)
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-/, '')
      .slice(0, NAME_MAX_CHARS)
      .replace(/-$/, '');
    const base = bare === '' ? fallback : bare;
    let name = base;
    for (let number = 2; this.#taken.has(name); number++) {
      const suffix = `-${number}`;
      name = `${base.slice(0, NAME_MAX_CHARS - suffix.length)}${suffix}`;
    }
    this.#taken.add(name);
    return name;
  }
}
