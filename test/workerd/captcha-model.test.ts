/**
 * The audit search against a naive search of all records: captchas are appended, solved, sealed, erased and evicted
 * between two pages, and each page and total must equal those of a plain list at that moment.
 */
import { env } from 'cloudflare:workers';
import { evictDurableObject } from 'cloudflare:test';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { appendCaptchas, searchCaptchas } from '../../src/store/event-log/client/captcha-log.ts';
import { type CaptchaEvent, type CaptchaRecord, mergeCaptcha } from '../../src/store/event-log/captcha-record.ts';
import type { CaptchaCondition } from '../../src/store/event-log/captcha-condition.ts';
import { compareNewestFirst, type RowKey } from '../../src/store/event-log/log-row.ts';
import { shard } from '../../src/store/event-log/client/shards.ts';
import { plainFacts } from '../support/captcha-course.ts';
import { testNow } from '../support/clock.ts';
import { runs } from '../support/properties.ts';

const service = env as ServiceEnv;
const RUNS = runs(30);
/** Captchas are sealed an hour after their issue. */
const start = testNow() - 5 * 3_600_000;

interface Made {
  /** Several share a millisecond, and a later one may be older: segments overlap. */
  at: number;
  country: string | null;
  account: string | null;
  agent: string;
  blocked: boolean;
}

type Step =
  | { do: 'append'; made: Made[] }
  | { do: 'submit'; which: number; correct: boolean }
  | { do: 'erase'; which: number }
  | { do: 'seal' | 'evict' | 'page' };

const made: fc.Arbitrary<Made> = fc.record({
  at: fc.nat(6),
  country: fc.constantFrom('DE', 'FR', null),
  account: fc.constantFrom('anna', 'ann', null),
  agent: fc.constantFrom('curl/8', 'Mozilla/5.0 "DE"', `long ${'x'.repeat(900)}`),
  blocked: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('append' as const), made: fc.array(made, { maxLength: 8 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('submit' as const), which: fc.nat(), correct: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('seal' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('evict' as const) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('page' as const) }) },
);

const questions: { conditions: CaptchaCondition[]; holds: (record: CaptchaRecord) => boolean }[] = [
  { conditions: [], holds: () => true },
  { conditions: [{ field: 'country', is: 'DE' }], holds: ({ country }) => country === 'DE' },
  { conditions: [{ field: 'user_account', is: 'ann' }], holds: (record) => record.user_account === 'ann' },
  { conditions: [{ field: 'status', is: 'Approved' }], holds: ({ status }) => status === 'Approved' },
  {
    conditions: [
      { field: 'captcha_type', is: 'pow' },
      { field: 'user_agent', contains: 'LONG' },
    ],
    holds: (record) => record.captcha_type === 'pow' && record.user_agent.startsWith('long'),
  },
  {
    conditions: [{ fields: ['country', 'user_agent'], contains: 'de' }],
    holds: (record) => record.country === 'DE' || record.user_agent.includes('DE'),
  },
];

let accounts = 0;

test.each(questions.map((question, index) => [JSON.stringify(question.conditions), index]))(
  'each page by %s equals a naive search at that moment',
  async (_, index) => {
    const question = questions[index as number] as (typeof questions)[number];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 20 }), async (steps) => {
        accounts += 1;
        const model = new Model(`captcha-model-${accounts}`);
        let before: RowKey | null = null;
        for (const one of steps) {
          if (one.do === 'page') before = await model.page(question, before);
          else await model.apply(one);
        }
        do before = await model.page(question, before);
        while (before !== null);
      }),
      { numRuns: RUNS },
    );
  },
);

const PAGE = 3;

class Model {
  readonly #account: string;
  readonly #records = new Map<string, CaptchaRecord>();
  readonly #sealed = new Set<string>();
  #made = 0;

  constructor(account: string) {
    this.#account = account;
  }

  get #name(): string {
    return `captcha/${this.#account}:0:0`;
  }

  async apply(one: Exclude<Step, { do: 'page' }>): Promise<void> {
    const records = [...this.#records.values()];
    const chosen = 'which' in one ? records[one.which % records.length] : undefined;
    switch (one.do) {
      case 'append':
        await this.#send(one.made.map((given) => this.#issued(given)));
        break;
      case 'submit':
        if (chosen) await this.#send([submitted(chosen, one.correct)]);
        break;
      case 'seal':
        await shard(service, this.#name).tune({ hotRowsMax: 1_000_000, segmentRows: 4 });
        await shard(service, this.#name).seal();
        this.#rememberSealed();
        break;
      case 'erase':
        if (!chosen) break;
        expect(await shard(service, this.#name).erase(chosen.jti)).toBe(1);
        this.#records.delete(chosen.jti);
        break;
      case 'evict':
        // Only a running object can be evicted.
        await shard(service, this.#name).statistics();
        await evictDurableObject(service.VERDICT_SHARD.get(service.VERDICT_SHARD.idFromName(this.#name)));
        break;
    }
  }

  /** The oldest four unsealed captchas are sealed now: their later events come too late. */
  #rememberSealed(): void {
    const open = [...this.#records.values()].filter(({ jti }) => !this.#sealed.has(jti)).sort(compareNewestFirst);
    for (const { jti } of open.toReversed().slice(0, 4)) this.#sealed.add(jti);
  }

  async #send(events: CaptchaEvent[]): Promise<void> {
    await appendCaptchas(service, events);
    for (const event of events) {
      if (this.#sealed.has(event.jti)) continue;
      this.#records.set(event.jti, mergeCaptcha(this.#records.get(event.jti) ?? null, event));
    }
  }

  #issued({ at, country, account, agent, blocked }: Made): CaptchaEvent {
    this.#made += 1;
    const jti = ((this.#made * 7919) % 1009).toString(16).padStart(6, '0').padEnd(32, '5');
    return {
      event: 'issued',
      jti,
      account_id: this.#account,
      site_key: 'site-1',
      timestamp: start + at,
      captcha_type: blocked ? 'blocked' : 'pow',
      facts: { ...plainFacts, country, user_agent: agent, user_account: account },
    };
  }

  /** Returns where the next page starts. */
  async page({ conditions, holds }: (typeof questions)[number], before: RowKey | null): Promise<RowKey | null> {
    const all = [...this.#records.values()].filter(holds).sort(compareNewestFirst);
    const older = all.filter((record) => before === null || compareNewestFirst(before, record) < 0);
    const query = { since: 0, until: Number.MAX_SAFE_INTEGER, siteKey: null, type: null, conditions };
    const page = await searchCaptchas(service, this.#account, query, before, PAGE);
    expect(page.records).toEqual(older.slice(0, PAGE));
    expect(page.total).toBe(all.length);
    expect(page.totalIsExact).toBe(true);
    expect(page.next === null).toBe(older.length <= PAGE);
    return page.next;
  }
}

function submitted(record: CaptchaRecord, correct: boolean): CaptchaEvent {
  const { jti, account_id, site_key, timestamp, captcha_type } = record;
  const at = (record.submitted_at ?? timestamp) + 1;
  return {
    event: 'submitted',
    jti,
    account_id,
    site_key,
    timestamp,
    captcha_type,
    at,
    correct,
    reason: null,
    score: null,
    detectors: [],
  };
}
