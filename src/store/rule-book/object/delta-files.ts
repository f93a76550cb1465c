/**
 * Signed deltas, made on first request and kept in memory, because every colo requests the same few. A delta depends on
 * the log alone, so losing the memory costs only time.
 */
import { encodeDelta } from '../../../rules/delta.ts';
import { signRulesetFile } from '../../../rules/signing.ts';
import { signingKey } from '../../keys/signing-keys.ts';
import type { ServedBase } from './bases.ts';
import { netChanges } from './change-log.ts';
import type { FailureWatch } from './failure-watch.ts';
import { rankedLists } from './list-layers.ts';

/** Edges are at one of the last few versions. The largest delta is about 3 MB. */
const KEPT_FILES = 4;

export class DeltaFiles {
  readonly #sql: SqlStorage;
  readonly #env: ServiceEnv;
  readonly #instanceId: string;
  readonly #watch: FailureWatch;
  readonly #files = new Map<string, Promise<Uint8Array>>();

  constructor(sql: SqlStorage, env: ServiceEnv, instanceId: string, watch: FailureWatch) {
    this.#sql = sql;
    this.#env = env;
    this.#instanceId = instanceId;
    this.#watch = watch;
  }

  /** The signed changes in `(base.version, version]`. */
  file(base: ServedBase, version: number, nowMs: number): Promise<Uint8Array> {
    const key = `${base.hash}/${version}`;
    const kept = this.#files.get(key);
    if (kept) return kept;
    const made = this.#watch.during('delta', this.#make(base, version, nowMs));
    this.#files.set(key, made);
    made.catch(() => this.#files.delete(key));
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= KEPT_FILES) break;
      this.#files.delete(oldest);
    }
    return made;
  }

  async #make(base: ServedBase, version: number, nowMs: number): Promise<Uint8Array> {
    const { set, removed } = netChanges(this.#sql, base.version, version);
    const { kid, privateKey } = await signingKey(this.#env, 'ruleset', nowMs);
    const payload = encodeDelta({
      instanceId: this.#instanceId,
      baseHash: base.hash,
      baseVersion: base.version,
      version,
      format: base.format,
      upserts: set,
      removals: removed,
      lists: rankedLists(this.#sql),
    });
    return (await signRulesetFile(payload, { kid, privateKey })).file;
  }
}
