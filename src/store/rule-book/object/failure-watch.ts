/**
 * Makes a step of the rule book that fails visible: to health and metrics through D1, and in the log. What is known stays in memory, so that only a change is written.
 */
import { noteRuleFailure, type RuleStep } from '../../d1/object-failures.ts';

export class FailureWatch {
  readonly #env: ServiceEnv;
  readonly #instanceId: string;
  readonly #failing = new Map<RuleStep, boolean>();

  constructor(env: ServiceEnv, instanceId: string) {
    this.#env = env;
    this.#instanceId = instanceId;
  }

  isFailing(step: RuleStep): boolean {
    return this.#failing.get(step) === true;
  }

  /** The file of the current base is damaged or gone. Noted until a later check finds it sound. */
  async noteFile(hash: string, isDamaged: boolean): Promise<void> {
    if (isDamaged) {
      console.error(JSON.stringify({ level: 'error', event: 'ruleset-damaged', instance: this.#instanceId, hash }));
    }
    await this.#note('file', isDamaged);
  }

  async during<T>(step: RuleStep, work: Promise<T>): Promise<T> {
    try {
      const done = await work;
      await this.#note(step, false);
      return done;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      console.error(
        JSON.stringify({ level: 'error', event: 'rules-failed', step, instance: this.#instanceId, message }),
      );
      await this.#note(step, true);
      throw error;
    }
  }

  /** The book is empty now. */
  async forget(): Promise<void> {
    this.#failing.clear();
    await this.#note('compile', false);
    await this.#note('delta', false);
    await this.#note('file', false);
  }

  async #note(step: RuleStep, isFailing: boolean): Promise<void> {
    if (this.#failing.get(step) === isFailing) return;
    try {
      await noteRuleFailure(this.#env, this.#instanceId, step, isFailing, Date.now());
      this.#failing.set(step, isFailing);
    } catch (error) {
      // The next attempt writes it. Rules must not wait for it.
      console.error(JSON.stringify({ level: 'error', event: 'rule-failure-not-noted', step, message: String(error) }));
    }
  }
}
