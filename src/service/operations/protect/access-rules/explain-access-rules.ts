/**
 * `POST /protect/access-rules/explain`: what a visitor with these signals gets now, by which rule, and every rule that
 * fires. The few rules that can match are compiled with the engine of the edge, so the result is the edge's own, without
 * loading a million rules. Sessions, risk and path rules are not considered.
 */
import * as z from 'zod/mini';
import {
  decisionInputs,
  decisions,
  edgeRuleTypes,
  ipCategories,
  type IpCategory,
} from '../../../../contract/vocabulary.ts';
import { decide, type DecideInputs, restrictiveness, rolloutBucket } from '../../../../rules/decision-table.ts';
import { explainDecision } from '../../../../rules/explain.ts';
import type { EdgeRule, RuleMatch } from '../../../../rules/types.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import type { MatchingRules } from '../../../../store/rule-book/rpc.ts';
import { accountBotTable } from '../../../bots/account-bot-table.ts';
import { protectOperation } from '../../define-operation.ts';
import {
  botQuestion,
  explainedBot,
  explainedBotSchema,
  foldedUserAgent,
  matchingKeys,
  type DescribedVisitor,
  describedVisitor,
  visitorSignals,
} from './described-visitor.ts';
import { compiledRules } from '../replay/compiled-proposal.ts';
import { instanceRuleBook, chosenSiteKey } from '../chosen-instance.ts';

/** Rules that match one visitor. A verdict record lists far fewer. */
const MATCHES_MAX_RULES = 10_000;

export const explainAccessRules = protectOperation({
  name: 'explain-access-rules',
  path: '/protect/access-rules/explain',
  access: 'read',
  summary: 'Explain what the access rules decide for a visitor',
  body: z.strictObject({
    siteKey: chosenSiteKey,
    ...visitorSignals,
    ...botQuestion,
    /** As the edge categorises the address. Without it, only Tor is known, by the country `T1`. */
    ipCategories: z.optional(z.array(z.enum(ipCategories)).check(z.maxLength(ipCategories.length))),
  }),
  response: z.object({
    decision: z.enum(decisions),
    /** The id of the deciding rule, `bot:<id>`, `category:<name>` or `default`. */
    decidedBy: z.string(),
    input: z.enum(decisionInputs),
    /** `null`: no known bot. */
    bot: z.nullable(explainedBotSchema),
    firedRules: z.array(
      z.object({
        id: z.string(),
        /** Of a list: its most specific entry that matches, as type and value. */
        entry: z.optional(z.string()),
        type: z.enum(edgeRuleTypes),
        verdict: z.enum(decisions),
        mode: z.enum(['enforce', 'monitor']),
      }),
    ),
    explain: z.string(),
    /** With `monitor`, the edge records this decision and forwards the request. */
    enforcementPolicy: z.enum(['enforce', 'monitor']),
    version: z.int(),
  }),
  async handler({ body, ...context }) {
    const facts = describedVisitor(body);
    const { instance, book } = await instanceRuleBook(context, body.siteKey);
    const found = await book.matching(matchingKeys(facts), foldedUserAgent(facts), MATCHES_MAX_RULES);
    const match = matchOf(found, facts, instance.id, context.nowMs);
    const table = await accountBotTable(context.store, instance.accountId, context.nowMs);
    const { bot, input } = explainedBot(body, facts, table, instance.botPolicy);
    const inputs: DecideInputs = {
      network: match.network,
      client: match.client,
      bot: input,
      category: categoryInput(instance, body.ipCategories ?? (facts.countryCode === 'T1' ? ['tor'] : [])),
      risk: null,
      limit: null,
      policy: null,
    };
    const outcome = decide(inputs);
    return {
      decision: outcome.decision,
      decidedBy: outcome.decidedBy,
      input: outcome.input,
      bot,
      firedRules: match.fired,
      explain: explainDecision({ inputs, fired: [...match.fired], rulesetVersion: found.version }),
      enforcementPolicy: instance.monitor ? 'monitor' : 'enforce',
      version: found.version,
    };
  },
});

function matchOf(
  { rules, entries }: MatchingRules,
  facts: DescribedVisitor,
  instanceId: string,
  nowMs: number,
): RuleMatch {
  const inForce = rules.filter((rule) => !hasExpired(rule, nowMs));
  // The bucket in which the edge puts a visitor with this address and user agent.
  const signals = { ...facts, rolloutBucket: rolloutBucket(`${facts.ip}\n${facts.userAgent}`) };
  return compiledRules(instanceId, inForce, entries).match(signals, Math.floor(nowMs / 1000));
}

/** Such a rule hides no entry of a list. */
function hasExpired({ expiry }: EdgeRule, nowMs: number): boolean {
  return expiry !== undefined && expiry <= nowMs / 1000;
}

function categoryInput(instance: StoredInstance, categories: readonly IpCategory[]): DecideInputs['category'] {
  let strictest: DecideInputs['category'] = null;
  for (const category of categories) {
    const verdict = instance.ipCategoryRules[category];
    if (verdict && (!strictest || restrictiveness[verdict] > restrictiveness[strictest.verdict])) {
      strictest = { verdict, category };
    }
  }
  return strictest;
}
