/**
 * Config and ruleset of this isolate: memory → colo cache → service → KV. A request reads `state` and nothing else. The
 * feed checks for changes behind a response; only a request that finds the last check too old waits, and only briefly,
 * unless that check found the service away. A file that cannot be loaded never replaces what is loaded.
 */
import { SharedRun, type WaitUntil, within } from '../../bytes/polled.ts';
import type { Bytes } from '../../bytes/utf8.ts';
import type { EdgeConfig, EdgeVersion } from '../../contract/edge/edge-responses.ts';
import { compileConfig, type CompiledConfig } from '../config/compiled-config.ts';
import { type ConfigSeal, decodePointer, encodePointer, openConfig, partName, type PartStore } from './stored-parts.ts';
import type { BotTable } from '../../bots/open-bot-table.ts';
import { type LoadedBase, openBase, openDeltaOver, type RulesetFault } from '../../rules/ruleset-files.ts';
import { type LoadedRuleset, openBots, rulesetOf } from './ruleset-files.ts';
import { ABSENT, type Asked, type Count, type Upstream, valueOrNull } from './upstream.ts';
import { ok, type Result } from '../../result.ts';

export interface GateState {
  config: CompiledConfig | null;
  ruleset: LoadedRuleset | null;
}

export interface FeedOptions {
  upstream: Upstream;
  /** Refuses a config with a test secret, which is public. */
  accepts(config: EdgeConfig): boolean;
  cache: PartStore;
  kv: PartStore;
  seal: ConfigSeal;
  count: Count;
  pollMs: number;
  maxStaleMs: number;
  now(): number;
  /** Other work to do behind the same responses. */
  alongside?(): Promise<unknown>;
}

/** A part from the cache, which may be on its way already. */
type ReadPart = (name: string) => Promise<Bytes | null>;

/** How long a request with a stale ruleset waits for a check. */
const STALE_WAIT_MS = 400;
/** The first request of an isolate has no rules yet: 500 ms for the service, then KV. */
const COLD_WAIT_MS = 1500;
/** A refresh takes less. */
const REFRESH_LOST_AFTER_MS = 30_000;

export class Feed {
  readonly #options: FeedOptions;
  state: GateState = { config: null, ruleset: null };
  /** `null` before the first one is loaded. */
  bots: BotTable | null = null;
  #botsHash: string | null = null;
  /** Last attempt and last success, epoch milliseconds. */
  attemptedAtMs = 0;
  syncedAtMs: number | null = null;
  #base: LoadedBase | null = null;
  /** As of the last check. */
  #isAway = false;
  readonly #refreshes = new SharedRun(REFRESH_LOST_AFTER_MS);

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** `null`: `state` is ready to use. Else what the request must wait for first. */
  ready(nowMs: number, waitUntil: WaitUntil): Promise<unknown> | null {
    const ageMs = nowMs - this.attemptedAtMs;
    if (ageMs < this.#options.pollMs) return null;
    const isTooOld = ageMs > this.#options.maxStaleMs && !(this.#isAway && this.state.ruleset !== null);
    const waitMs = this.attemptedAtMs === 0 ? COLD_WAIT_MS : isTooOld ? STALE_WAIT_MS : 0;
    const done = this.#refreshes.start(nowMs, () => this.#guarded());
    if (done === null) return waitMs === 0 ? null : this.#refreshes.ended(waitMs);
    waitUntil(done);
    if (this.#options.alongside) waitUntil(this.#options.alongside());
    return waitMs === 0 ? null : within(done, waitMs);
  }

  /** One check, to its end. For the scheduled run; requests go through `ready`. */
  async check(): Promise<void> {
    await this.#guarded();
  }

  async #guarded(): Promise<void> {
    try {
      await this.#load();
    } catch (error) {
      this.#options.count('feed_failures{kind="exception"}');
      console.error(JSON.stringify({ level: 'error', event: 'feed-failed', message: String(error) }));
    } finally {
      this.attemptedAtMs = this.#options.now();
    }
  }

  async #load(): Promise<void> {
    const { cache, upstream, kv, pollMs } = this.#options;
    let version = valueOrNull(decodePointer(await cache.get(partName.cachedPointer)));
    // Another isolate may have cached an older answer than this one has seen.
    if (version && this.state.ruleset && version.delta.version < this.state.ruleset.version) version = null;
    if (!version) {
      version = valueOrNull(await upstream.version());
      if (version) await cache.put(partName.cachedPointer, encodePointer(version), pollMs / 1000);
    }
    const fromKv = version === null;
    this.#isAway = fromKv;
    const isCold = this.state.config === null || this.state.ruleset === null;
    if (fromKv && (isCold || this.bots === null)) version = valueOrNull(decodePointer(await kv.get(partName.pointer)));
    if (!version) return;
    await this.#loadParts(version, fromKv, fromKv && !isCold);
    const lacksRules = this.state.config === null || this.state.ruleset === null;
    if (fromKv || !(lacksRules || this.#lacksBots(version))) return;
    // The service sends what this release cannot read, or a damaged file: the last ones that it could read are in KV.
    const stored = valueOrNull(decodePointer(await kv.get(partName.pointer)));
    if (stored && !isSameVersion(stored, version)) await this.#loadParts(stored, true, !lacksRules);
  }

  #lacksBots({ bots }: EdgeVersion): boolean {
    if (!bots || !this.#options.upstream.bots) return false;
    return this.bots === null;
  }

  /** `isForBots`: KV can have older rules than are loaded here, but any bots are better than none. */
  async #loadParts(version: EdgeVersion, fromKv: boolean, isForBots: boolean): Promise<void> {
    const { cache } = this.#options;
    const isWaited = this.attemptedAtMs === 0 || this.state.config !== null;
    const cached: ReadPart = isWaited ? this.#readAhead(version, isForBots) : (name) => cache.get(name);
    const isConfigKept = isForBots || (fromKv && this.state.config !== null);
    const config = isConfigKept ? this.state.config : await this.#loadConfig(version, cached);
    if (!config) return;
    const bots = this.#loadBots(version, config, cached);
    if (!isForBots) {
      this.state = { ...this.state, config };
      const ruleset = await this.#loadRuleset(version, config, cached);
      if (ruleset.ok) this.state = { config, ruleset: ruleset.value };
      if (ruleset.ok && !fromKv) this.syncedAtMs = this.#options.now();
    }
    await bots;
  }

  /**
   * Begins to read from the cache what the pointer names and is not loaded, all at once: a new isolate waits for the
   * slowest part and not for each after the other. Not where the last check got no config: without one, nothing else counts.
   */
  #readAhead({ configVersion, base, delta, bots }: EdgeVersion, isForBots: boolean): ReadPart {
    const { cache } = this.#options;
    const { config, ruleset } = this.state;
    const names: string[] = [];
    if (bots && this.#options.upstream.bots && bots.hash !== this.#botsHash) names.push(partName.bots(bots.hash));
    if (!isForBots) {
      if (config?.configVersion !== configVersion) names.push(partName.config(configVersion));
      if (this.#base?.hash !== base.hash) names.push(partName.base(base.hash));
      const isLoaded = ruleset?.baseHash === base.hash && ruleset.version === delta.version;
      if (!isLoaded && delta.version !== base.version) names.push(partName.delta(base.hash, delta.version));
    }
    const begun = new Map(names.map((name) => [name, cache.get(name)]));
    return (name) => begun.get(name) ?? cache.get(name);
  }

  async #loadConfig(version: EdgeVersion, cached: ReadPart): Promise<CompiledConfig | null> {
    if (this.state.config?.configVersion === version.configVersion) return this.state.config;
    const { seal, upstream, cache, kv } = this.#options;
    const name = partName.config(version.configVersion);
    let sent = valueOrNull(await openConfig(await cached(name), seal));
    if (!sent) {
      sent = valueOrNull(await upstream.config());
      if (sent) await cache.put(partName.config(sent.config.configVersion), await seal.seal(sent.json), null);
    }
    // The stored pointer and the stored config were written together, so a cold isolate uses both.
    sent ??= this.state.config ? null : valueOrNull(await openConfig(await kv.get(name), seal));
    const config = sent?.config;
    if (config && !this.#options.accepts(config)) {
      this.#options.count('test_secrets_refused');
      console.error('gatehouse-edge: the site secret is a test secret; set ALLOW_TEST_KEYS=1 if this is a test');
      return this.state.config;
    }
    return config ? compileConfig(config) : this.state.config;
  }

  /** A table that cannot be loaded never replaces the one that is. */
  async #loadBots({ bots }: EdgeVersion, { rulesetKeys }: CompiledConfig, cached: ReadPart): Promise<void> {
    const { upstream } = this.#options;
    if (!bots || !upstream.bots || bots.hash === this.#botsHash) return;
    const { hash } = bots;
    const fetchIt = (): Promise<Asked<Bytes>> => upstream.bots!(hash);
    const table = await this.#file(partName.bots(hash), cached, fetchIt, (bytes) => openBots(bytes, hash, rulesetKeys));
    if (!table.ok) return;
    this.bots = table.value;
    this.#botsHash = hash;
  }

  async #loadRuleset(version: EdgeVersion, config: CompiledConfig, cached: ReadPart): Promise<Asked<LoadedRuleset>> {
    const { base, delta } = version;
    const current = this.state.ruleset;
    if (current && current.baseHash === base.hash && current.version === delta.version) return ok(current);
    if (this.#base?.hash !== base.hash) {
      const file = (bytes: Bytes) => openBase(bytes, base.hash, config.instanceId, config.rulesetKeys);
      const loaded = await this.#file(
        partName.base(base.hash),
        cached,
        () => this.#options.upstream.base(base.hash),
        file,
        async () => this.#options.upstream.refused?.(base.hash),
      );
      if (!loaded.ok) return loaded;
      this.#base = loaded.value;
    }
    const loadedBase = this.#base;
    if (delta.version === base.version) return ok(rulesetOf(loadedBase, null, base.version));
    const changes = await this.#file(
      partName.delta(base.hash, delta.version),
      cached,
      () => this.#options.upstream.delta(base.hash, delta.version),
      (bytes) => openDeltaOver(bytes, base.hash, delta.version, config.instanceId, config.rulesetKeys),
    );
    return changes.ok ? ok(rulesetOf(loadedBase, changes.value, delta.version)) : changes;
  }

  /** A signed file from the nearest place that has a good one. A bad one is counted and skipped. */
  async #file<T>(
    name: string,
    cached: ReadPart,
    fetchIt: () => Promise<Asked<Bytes>>,
    open: (bytes: Bytes) => Promise<Result<T, RulesetFault>>,
    onRefused?: () => Promise<unknown>,
  ): Promise<Asked<T>> {
    const { cache, kv, count } = this.#options;
    const places: [place: string, read: () => Promise<Bytes | null>][] = [
      ['cache', () => cached(name)],
      ['service', async () => valueOrNull(await fetchIt())],
      ['kv', () => kv.get(name)],
    ];
    for (const [place, read] of places) {
      const bytes = await read();
      if (!bytes) continue;
      const opened = await open(bytes);
      if (opened.ok) {
        if (place !== 'cache') await cache.put(name, bytes, null);
        return opened;
      }
      count(`rulesets_refused{from="${place}"}`);
      if (place === 'service') await onRefused?.();
    }
    return ABSENT;
  }
}

function isSameVersion(a: EdgeVersion, b: EdgeVersion): boolean {
  return partsOf(a) === partsOf(b);
}

function partsOf({ configVersion, base, delta, bots }: EdgeVersion): string {
  return [configVersion, base.hash, delta.version, bots?.hash].join();
}
