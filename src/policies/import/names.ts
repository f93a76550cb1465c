/** Names for imported policies: from what the rule is called there, each once. */
import { GATE_POLICIES } from '../../contract/management/policy-set/policy-fields.ts';

const NAME_MAX_CHARS = 48;

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
