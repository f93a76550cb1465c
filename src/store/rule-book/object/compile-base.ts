/**
 * Compiles a base in each format. Rows go through the compiler in slices, and between slices the object serves other calls. Rules may
 * change meanwhile, so a base can hold some changes of later versions. That is safe: the base carries the version at
 * which reading began, and every delta over it sets or removes whole rules. No edge sees the base until the pointer
 * moves, and its delta then covers everything written meanwhile.
 */
import { RulesetCompiler } from '../../../rules/compiler.ts';
import { rulesetFormats } from '../../../contract/edge/formats.ts';
import { openSignedRuleset, signInPlace, TRAILER_MAX_BYTES } from '../../../rules/signing.ts';
import { signingKey, verificationKeys } from '../../keys/signing-keys.ts';
import { announceBase, disposableBases, forgetBase, oldestServedVersion, publishBase } from './bases.ts';
import { trimHistory } from './change-log.ts';
import { addEntries, forgetRemovedLists } from './compile-lists.ts';
import { rankedLists } from './list-layers.ts';
import { EXPIRED_GRACE_SECONDS, expiredBefore } from './list-log.ts';
import { rulesetKey } from '../ruleset-objects.ts';
import { edgeRule, type EngineRow } from '../rule-row.ts';

/** A text value holds at most 2 MB; this many rows with the longest user agents stay below it. */
const READ_ROWS = 2000;
/** About 10 ms of reading and compiling, the longest that another call waits. */
const READS_PER_SLICE = 5;

interface CompileJob {
  storage: DurableObjectStorage;
  env: ServiceEnv;
  instanceId: string;
  /** Epoch milliseconds. */
  nowMs: number;
}

/** One after the other, because each takes memory. The newest is last: writers wait for it. */
export async function compileBases(job: CompileJob): Promise<void> {
  const { storage, env, instanceId, nowMs } = job;
  await removeDisposable(storage.sql, env, instanceId, nowMs);
  for (const format of rulesetFormats.toReversed()) await compileBase(job, format);
  await trimHistory(storage, oldestServedVersion(storage.sql), giveWay);
  await forgetRemovedLists(storage, oldestServedVersion(storage.sql), giveWay);
}

async function compileBase({ storage, env, instanceId, nowMs }: CompileJob, format: string): Promise<void> {
  const { sql } = storage;
  const { kid, privateKey } = await signingKey(env, 'ruleset', nowMs);
  const version = sql.exec<{ version: number }>('SELECT version FROM book').one().version;
  const lists = rankedLists(sql);
  const compiler = new RulesetCompiler({ instanceId, version, createdAtMs: nowMs, lists });
  const entries = await addEntries(sql, compiler, lists, giveWay);
  // The clock may have been set back since entries of lists were logged in place of expired rules.
  const expired = Math.max(expiredBefore(sql), Math.floor(nowMs / 1000) - EXPIRED_GRACE_SECONDS);
  const rules = await addRules(sql, compiler, expired);
  const { file, hash } = await signInPlace(compiler.finish(TRAILER_MAX_BYTES, format), { kid, privateKey });

  announceBase(sql, { hash, version }, entries + rules, file.byteLength, nowMs);
  await env.RULESETS.put(rulesetKey(instanceId, hash), file);
  publishBase(storage, hash, format, nowMs);
}

/** An expired rule leaves the base a minute later, because clocks of edges may be slow. It stays listed. */
async function addRules(sql: SqlStorage, compiler: RulesetCompiler, expired: number): Promise<number> {
  let rules = 0;
  let after: readonly [number, string] = [-1, ''];
  for (let read = 1; ; read += 1) {
    const rows = nextRows(sql, after);
    for (const row of rows) {
      const expiry = row[4];
      if (expiry !== null && expiry < expired) continue;
      compiler.add(edgeRule(row));
      rules += 1;
    }
    const last = rows.at(-1);
    if (!last || rows.length < READ_ROWS) return rules;
    after = [last[0], last[1]];
    if (read % READS_PER_SLICE === 0) await giveWay();
  }
}

/** As one JSON text, which is three times as fast as one row at a time. */
function nextRows(sql: SqlStorage, after: readonly [number, string]): EngineRow[] {
  const { rows } = sql
    .exec<{ rows: string }>(
      `SELECT json_group_array(json_array(type, value, verdict, mode, expiry, rollout)) AS rows FROM
         (SELECT * FROM rules WHERE (type, value) > (?, ?) ORDER BY type, value LIMIT ?)`,
      after[0],
      after[1],
      READ_ROWS,
    )
    .one();
  return JSON.parse(rows) as EngineRow[];
}

async function removeDisposable(sql: SqlStorage, env: ServiceEnv, instanceId: string, nowMs: number): Promise<void> {
  for (const hash of disposableBases(sql, nowMs)) {
    await env.RULESETS.delete(rulesetKey(instanceId, hash));
    forgetBase(sql, hash);
  }
}

/** Lets waiting calls run. */
function giveWay(): Promise<void> {
  return scheduler.wait(0);
}

/**
 * Whether the file of a base in R2 is still the one that was compiled. A file that is gone, cut off or changed cannot
 * be loaded by any edge, and an edge that starts with it has no rules.
 * @throws when R2 does not answer: then nothing is known of the file.
 */
export async function isBaseSound(env: ServiceEnv, instanceId: string, hash: string, nowMs: number): Promise<boolean> {
  const file = await env.RULESETS.get(rulesetKey(instanceId, hash));
  if (file === null) return false;
  const keys = await verificationKeys(env, 'ruleset', nowMs);
  const opened = await openSignedRuleset(
    new Uint8Array(await file.arrayBuffer()),
    new Map(keys.map(({ kid, publicKey }) => [kid, publicKey])),
  );
  return opened.ok && opened.value.hash === hash;
}
