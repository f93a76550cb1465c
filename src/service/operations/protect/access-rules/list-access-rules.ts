/**
 * `POST /protect/access-rules`. Without `limit`, the response has every rule: it is streamed page by page, so a million
 * rules are never in memory at once. With `limit`, it is one page and a cursor. `matches` finds the rules that match a
 * visitor.
 */
import * as z from 'zod/mini';
import { namesOfActors } from '../../../../store/d1/management-audit.ts';
import { edgeRuleListed } from '../../../../contract/management/edge-rule.ts';
import { instant } from '../../../../contract/management/time.ts';
import { decisions, edgeRuleTypes } from '../../../../contract/vocabulary.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import { verdictLogOf } from '../../../../store/event-log/client/verdict-log.ts';
import { retentionHorizon } from '../../../../store/event-log/retention.ts';
import type { RuleKey, StoredRule } from '../../../../store/rule-book/rule-row.ts';
import type { RuleFilter } from '../../../../store/rule-book/rpc.ts';
import { rulePage } from '../../../../store/rule-book/client.ts';
import { type OperationContext, protectOperation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { distinctWindow } from '../verdicts/verdict-log-query.ts';
import { type InstanceRuleBook, instanceRuleBook, chosenSiteKey } from '../chosen-instance.ts';
import { type HitsOfRules, hitsOfRules, isoTime, listedRule, type ListingFacts } from './rule-response.ts';
import { readRuleCursor, ruleCursor, ruleCursorField } from '../../pages.ts';
import { streamRules } from './stream-rules.ts';
import { unseenSignals } from './unseen-signals.ts';
import {
  foldedUserAgent,
  type GivenSignals,
  matchingKeys,
  describedVisitor,
  visitorSignals,
} from './described-visitor.ts';

const PAGE_MAX_RULES = 10_000;
/** Rules that match one visitor. Real visitors match far fewer. */
const MATCHES_MAX_RULES = 10_000;

const body = z.strictObject({
  siteKey: chosenSiteKey,
  limit: z.optional(z.int().check(z.gte(1), z.lte(PAGE_MAX_RULES))),
  cursor: ruleCursorField,
  type: z.optional(z.enum(edgeRuleTypes)),
  verdict: z.optional(z.enum(decisions)),
  valuePrefix: z.optional(z.string().check(z.maxLength(512))),
  matches: z.optional(z.strictObject(visitorSignals)),
  /** Adds to each rule how often it fired since then, from the counts of the log; 0: for as long as verdicts are kept. */
  hitsSince: z.optional(instant),
});

export const listAccessRules = protectOperation({
  name: 'list-access-rules',
  path: '/protect/access-rules',
  access: 'read',
  summary: 'List edge access rules',
  body,
  response: z.object({
    rules: z.array(edgeRuleListed),
    total: z.int(),
    version: z.int(),
    /** Rule types whose signal no request of this instance had for a week. */
    unseenSignals: z.array(z.enum(edgeRuleTypes)),
    nextCursor: z.optional(z.string()),
    /** From when on the hits are counted: a whole minute, and not before the log begins. */
    hitsSince: z.optional(z.iso.datetime()),
    /** `false`: more distinct rules fired in an hour than the log counts separately. */
    hitsAreExact: z.optional(z.boolean()),
  }),
  async handler({ body: query, ...context }) {
    if (query.hitsSince !== undefined && query.limit === undefined && query.matches === undefined) {
      throw new OperationError('API.INVALID_BODY', 'Hits are counted for a page of rules', [
        { path: 'limit', message: 'is required with hitsSince' },
      ]);
    }
    const { instance, book } = await instanceRuleBook(context, query.siteKey);
    const facts = {
      nowMs: context.nowMs,
      unseen: await unseenSignals(context.store, instance, context.nowMs),
      namesOf: (actors: readonly string[]) => namesOfActors(context.store, context.account.id, actors),
    };
    const { hitsSince } = query;
    const counter = hitsSince === undefined ? null : hitCounter(context, instance, hitsSince);
    const filter: RuleFilter = {
      ...(query.type === undefined ? {} : { type: query.type }),
      ...(query.verdict === undefined ? {} : { verdict: query.verdict }),
      ...(query.valuePrefix === undefined ? {} : { valuePrefix: query.valuePrefix }),
    };
    if (query.matches) return rulesMatching(book, query.matches, filter, facts, counter);
    const after = readRuleCursor(query.cursor);
    if (query.limit === undefined) return everyRule(book, filter, after, facts);
    return onePage(book, filter, after, query.limit, facts, counter);
  },
});

interface PageFacts extends ListingFacts {
  namesOf(actors: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

interface HitCounter {
  /** Epoch milliseconds. */
  since: number;
  count(rules: readonly RuleKey[]): Promise<HitsOfRules>;
}

function hitCounter(
  { store, nowMs }: Pick<OperationContext<unknown>, 'store' | 'nowMs'>,
  instance: StoredInstance,
  hitsSince: number,
): HitCounter {
  const target = { log: verdictLogOf(instance) };
  const window = distinctWindow({ since: hitsSince }, retentionHorizon(instance.retentionDays, nowMs), nowMs);
  return { since: window.since, count: (rules) => hitsOfRules(store, target, rules, window) };
}

async function listedWithHits(
  rules: readonly StoredRule[],
  facts: PageFacts,
  counter: HitCounter | null,
): Promise<object> {
  const names = await facts.namesOf(rules.map(({ updatedBy }) => updatedBy));
  const withName = (rule: StoredRule, hits?: HitsOfRules['hits'][number]) => ({
    ...listedRule(rule, facts, hits),
    updatedByName: names.get(rule.updatedBy),
  });
  if (counter === null) return { rules: rules.map((rule) => withName(rule)) };
  const { hits, areExact } = await counter.count(rules);
  return {
    rules: rules.map((rule, index) => withName(rule, hits[index])),
    hitsSince: isoTime(counter.since),
    hitsAreExact: areExact,
  };
}

async function onePage(
  book: InstanceRuleBook['book'],
  filter: RuleFilter,
  after: RuleKey | undefined,
  limit: number,
  facts: PageFacts,
  counter: HitCounter | null,
): Promise<object> {
  const page = await rulePage(book, { ...filter, ...(after ? { after } : {}), limit: limit + 1 });
  const rules = page.rules.slice(0, limit);
  const last = rules.at(-1);
  return {
    ...(await listedWithHits(rules, facts, counter)),
    total: page.total,
    version: page.version,
    unseenSignals: facts.unseen,
    ...(page.rules.length > limit && last ? { nextCursor: ruleCursor(last) } : {}),
  };
}

/** `total` and `version` are from the start of the listing, so they come first. */
async function everyRule(
  book: InstanceRuleBook['book'],
  filter: RuleFilter,
  after: RuleKey | undefined,
  facts: ListingFacts,
): Promise<Response> {
  const { head, parts } = await streamRules(book, filter, after, (rule) => JSON.stringify(listedRule(rule, facts)));
  return new Response(
    parts({
      before: `{"total":${head.total},"version":${head.version},"unseenSignals":${JSON.stringify(facts.unseen)},"rules":[`,
      between: ',',
      after: ']}',
    }),
    { headers: { 'content-type': 'application/json' } },
  );
}

/** The filters apply to the rules that match the visitor. `total` counts the rest. */
async function rulesMatching(
  book: InstanceRuleBook['book'],
  signals: GivenSignals,
  filter: RuleFilter,
  facts: PageFacts,
  counter: HitCounter | null,
): Promise<object> {
  const visitor = describedVisitor(signals);
  const found = await book.matching(matchingKeys(visitor), foldedUserAgent(visitor), MATCHES_MAX_RULES);
  const rules = found.rules.filter(
    (rule) =>
      (filter.type === undefined || rule.type === filter.type) &&
      (filter.verdict === undefined || rule.verdict === filter.verdict) &&
      (filter.valuePrefix === undefined || rule.value.toLowerCase().startsWith(filter.valuePrefix.toLowerCase())),
  );
  return {
    ...(await listedWithHits(rules, facts, counter)),
    total: rules.length,
    version: found.version,
    unseenSignals: facts.unseen,
  };
}
