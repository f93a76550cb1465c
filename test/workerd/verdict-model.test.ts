/**
 * Random histories of one log against a list in memory: batches in and out of order, seals of odd sizes, erasures,
 * restarts and queries in between. Every query must return what the list returns.
 */
import { env } from 'cloudflare:workers';
import { evictDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { botProofs, decisions, deviceTypes, verdictSources } from '../../src/contract/vocabulary.ts';
import { everything, matches, type RowFilter } from '../../src/store/event-log/row-filter.ts';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { countValues, eraseSession } from '../../src/store/event-log/client/verdict-log.ts';
import { type VerdictPage, readPage } from '../../src/store/event-log/client/verdict-page.ts';
import { compareNewestFirst, type RowKey, verdictRow } from '../../src/store/event-log/log-row.ts';
import { type LogName, shard } from '../../src/store/event-log/client/shards.ts';
import { arrivalNow, seededRandom, variedRecord } from '../support/verdict-record.ts';
import { testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';

const HISTORIES = 8;
const STEPS = 30;
const service = env as ServiceEnv;
const start = testNow() - 6 * 3_600_000;
const SPAN_MS = 5 * 3_600_000;

class RandomHistory {
  readonly #random: () => number;
  readonly #log: LogName;
  readonly #name: string;
  #records: VerdictRecord[] = [];
  #sent: VerdictRecord[] = [];
  #seq = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#log = { stream: 'verdicts', owner: `model-${seed}` };
    this.#name = `verdicts/model-${seed}:0:0`;
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }

  #one<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T;
  }

  async step(): Promise<void> {
    const dice = this.#random();
    if (dice < 0.35) await this.#append();
    else if (dice < 0.55) await this.#seal();
    else if (dice < 0.6) await this.#erase();
    else if (dice < 0.65) await this.#restart();
    else await this.query();
  }

  async #append(): Promise<void> {
    const progress = Math.min(this.#seq / 2000, 1) * SPAN_MS;
    const fresh = Array.from({ length: this.#below(250) }, () => {
      // Most records are new, some are hours late.
      const moment = this.#random() < 0.9 ? progress + this.#below(600_000) : this.#below(SPAN_MS);
      const record = variedRecord(this.#log.owner, Math.floor(start + moment), this.#random, this.#seq++);
      if (this.#random() < 0.02) record.request_path = `/${'long'.repeat(40)}/${this.#below(3)}`;
      return record;
    });
    const again = Array.from({ length: this.#below(20) }, () => this.#one(this.#sent)).filter(Boolean);
    const counts = await appendRows(
      service,
      this.#log,
      [...fresh, ...again].map((record) => verdictRow(record, true)),
      arrivalNow(),
    );
    expect(counts).toEqual({ accepted: fresh.length, duplicates: again.length, conflicting: 0 });
    this.#records.push(...fresh);
    this.#sent.push(...fresh);
  }

  async #seal(): Promise<void> {
    const object = shard(service, this.#name);
    await object.tune({ hotRowsMax: 1_000_000, segmentRows: 1 + this.#below(400) });
    await object.seal();
  }

  async #erase(): Promise<void> {
    const jti = `session-${this.#below(50)}`;
    const gone = this.#records.filter((record) => record.jti === jti);
    expect(await eraseSession(service, this.#log, jti)).toBe(gone.length);
    this.#records = this.#records.filter((record) => record.jti !== jti);
  }

  async #restart(): Promise<void> {
    const object = service.VERDICT_SHARD.getByName(this.#name);
    await shard(service, this.#name).statistics();
    await evictDurableObject(object);
  }

  #filter(): RowFilter {
    const maybe = <T>(chance: number, make: () => T): T | null => (this.#random() < chance ? make() : null);
    const moments = [start + this.#below(SPAN_MS), start + this.#below(SPAN_MS)].sort((a, b) => a - b);
    const path = maybe(0.3, () => {
      const text = this.#one([`/shop/${this.#below(60)}`, '/', '/shop/1', `/${'long'.repeat(40)}/1`, '/none']);
      return { text, prefix: this.#random() < 0.5 };
    });
    return {
      since: maybe(0.4, () => moments[0] as number) ?? 0,
      until: maybe(0.4, () => moments[1] as number) ?? everything.until,
      outcomes: maybe(0.3, () => [this.#below(3)]),
      sources: maybe(0.2, () => [this.#one(verdictSources), this.#one(verdictSources)]),
      firedRules: maybe(0.2, () => Array.from({ length: 1 + this.#below(12) }, () => `ip:192.0.2.${this.#below(20)}`)),
      asns: maybe(0.2, () => Array.from({ length: 1 + this.#below(12) }, () => 64_496 + this.#below(45))),
      devices: maybe(0.2, () => [this.#one(deviceTypes), this.#one(deviceTypes)]),
      bots: maybe(0.2, () => [`bot-${this.#below(4)}`, `bot-${this.#below(9)}`]),
      proofs: maybe(0.1, () => [this.#one(botProofs), this.#one(botProofs)]),
      path,
      minRulesFired: maybe(0.2, () => this.#below(3)) ?? 0,
      ip: maybe(0.15, () => `198.51.100.${this.#below(200)}`),
      jti: maybe(0.1, () => `session-${this.#below(50)}`),
      id: this.#records.length === 0 ? null : maybe(0.1, () => this.#one(this.#records).id),
      shortId: null,
    };
  }

  async query(): Promise<void> {
    const filter = this.#filter();
    const wanted = this.#records.filter((record) => matches(filter, record)).sort(compareNewestFirst);
    const limit = 20 + this.#below(90);
    const found: string[] = [];
    let before: RowKey | null = null;
    do {
      const page: VerdictPage = await readPage(service, this.#log, {
        filter,
        before,
        offset: 0,
        limit,
        wantTotal: true,
      });
      expect([page.total, page.totalIsExact]).toEqual([wanted.length, true]);
      found.push(...page.rows.map(({ id }) => id));
      before = page.next;
    } while (before !== null);
    expect(found).toEqual(wanted.map(({ id }) => id));
    const offset = this.#below(wanted.length + 2);
    const far = await readPage(service, this.#log, { filter, before: null, offset, limit, wantTotal: false });
    expect(far.rows.map(({ id }) => id)).toEqual(found.slice(offset, offset + limit));
  }

  async countEverything(): Promise<void> {
    const window = { from: 0, to: Math.ceil(testNow() / 60_000), outcomes: null };
    const { values } = await countValues(service, this.#log, 'none', window, 10);
    const counts = decisions.map((decision) => this.#records.filter((record) => record.decision === decision).length);
    expect(values[0]?.counts ?? [0, 0, 0]).toEqual(counts);
  }
}

test('a random log returns what a list returns', () =>
  expectRows(
    Array.from({ length: HISTORIES }, (_, index) => index + 1),
    async (seed) => {
      const history = new RandomHistory(seed);
      for (let step = 0; step < STEPS; step++) {
        await history.step();
      }
      await history.query();
      await history.countEverything();
    },
  ));
