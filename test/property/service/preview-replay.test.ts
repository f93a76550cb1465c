/**
 * A preview says what the gate would do. Requests go through the edge's own judgement under random rules, policies and
 * settings and leave records. The same requests then go through it under the rules of now, and under the rules of now
 * with a random change. The replay of the record must say the same of both, or that nobody can tell.
 */
import type { VerdictRecord } from '../../../src/contract/edge/verdict-record.ts';
import type { PaceState } from '../../../src/risk/pace.ts';
import { expect, test } from 'vitest';
import type { EdgeConfig } from '../../../src/contract/edge/edge-responses.ts';
import type { Policy, PolicyAction } from '../../../src/contract/management/policy-set/policy.ts';
import { botSignal } from '../../../src/bots/bot-proof.ts';
import type { TableBot } from '../../../src/bots/bot-table.ts';
import { botProofs, decisions, ipCategories } from '../../../src/contract/vocabulary.ts';
import { rolloutBucket } from '../../../src/rules/decision-table.ts';
import { isAt } from '../../../src/decide/request-target.ts';
import { judge } from '../../../src/edge/decide/judge.ts';
import type { JudgedContext } from '../../../src/edge/decide/context.ts';
import type { KnownVisitor } from '../../../src/edge/decide/known-visitor.ts';
import type { RequestFacts } from '../../../src/edge/request/facts.ts';
import type { SessionReading } from '../../../src/edge/session/sessions.ts';
import { recordOf } from '../../../src/edge/step/record.ts';
import { forwardOn } from '../../../src/edge/step/step.ts';
import { POW_DIFFICULTY_MAX } from '../../../src/captcha/plan/level-prices.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import type { ListedEntry } from '../../../src/store/rule-book/list-rpc.ts';
import { compiledProposal, compiledRules } from '../../../src/service/operations/protect/replay/compiled-proposal.ts';
import {
  isUntouchable,
  policyParts,
  replay,
  type ReplayGate,
  replayGate,
} from '../../../src/service/operations/protect/replay/gate-replay.ts';
import { mergedMatch } from '../../../src/service/operations/protect/replay/merged-match.ts';
import { compared } from '../../../src/service/operations/protect/replay/previewed-changes.ts';
import { propertySeed, runs } from '../../support/properties.ts';
import { configOf, edgeConfigOf, factsOf, NOW_MS, signalsOf } from '../../unit/edge/edge-fixture.ts';
import { type Random, randomFrom } from '../rules/random.ts';

const CASES = runs(200);
const REQUESTS_OF_A_CASE = 40;

const ips = ['192.0.2.1', '192.0.2.200', '198.51.100.7', '2001:db8::1'];
const asns = [64_500, 64_501];
const countries = ['DE', 'NL'];
const agents = ['Mozilla/5.0 Firefox/140.0', 'curl/8.5.0', 'examplebot/1'];
const paths = ['/', '/shop', '/shop/cart', '/api/items', '/login', '/robots.txt', '/Shop;a=1', '/x/..%2fshop'];
const ruleValues: readonly Pick<EdgeRule, 'type' | 'value'>[] = [
  { type: 'ip', value: '192.0.2.1' },
  { type: 'ip', value: '2001:db8::1' },
  { type: 'ipMask', value: '192.0.2.0/24' },
  { type: 'ipMask', value: '192.0.2.128/25' },
  { type: 'ipMask', value: '2001:db8::/32' },
  { type: 'asn', value: '64500' },
  { type: 'countryCode', value: 'DE' },
  { type: 'userAgent', value: 'curl' },
  { type: 'userAgent', value: 'mozilla' },
];
const conditions = [
  { field: 'path', operator: 'startsWith', value: '/shop' },
  { field: 'path', operator: 'equals', value: '/login' },
  { field: 'country', operator: 'equals', value: 'DE' },
  { field: 'sessionStatus', operator: 'equals', value: 'none' },
  { field: 'riskScore', operator: 'greaterThan', value: 0.4 },
  { field: 'pathType', operator: 'equals', value: 'json' },
  { field: 'cookie', name: 'sid', operator: 'exists', value: true },
] as const;
const actions: readonly PolicyAction[] = [
  { action: 'allow' },
  { action: 'challenge' },
  { action: 'challenge', level: 2 },
  { action: 'block' },
  { action: 'redirect', location: '/login', status: 302 },
  { action: 'skipSession' },
];

const tableBot = { names: [], agents: [], hasDns: false, isComplete: true };
/** One whose operator publishes its networks, and one without. */
const tableBots = [
  { ...tableBot, id: 'published', behaviours: ['search' as const], ranges: [0] },
  { ...tableBot, id: 'unpublished', behaviours: ['training' as const], ranges: [] },
] as unknown as TableBot[];
const table = { byId: (id: string) => tableBots.find((bot) => bot.id === id) ?? null };

interface World {
  settings: object;
  policies: Policy[];
  rules: EdgeRule[];
  /** The entry of the list that owns a value comes first. */
  entries: ListedEntry[];
}

/** A part of the values, each with a verdict of its own. */
function anyRules(random: Random): EdgeRule[] {
  return ruleValues.flatMap(({ type, value }) =>
    random.below(4) > 0
      ? []
      : [
          {
            type,
            value,
            verdict: random.pick(decisions),
            mode: random.below(5) === 0 ? ('monitor' as const) : ('enforce' as const),
            ...(random.below(5) === 0 ? { rollout: 50 } : {}),
          },
        ],
  );
}

/** Two lists, the stricter one first. */
function anyEntries(random: Random): ListedEntry[] {
  const networks = ruleValues.filter(({ type }) => type !== 'userAgent');
  return (['block', 'allow'] as const).flatMap((verdict) =>
    networks.flatMap(({ type, value }) =>
      random.below(5) > 0 ? [] : [{ list: `list-${verdict}`, type, value, verdict, mode: 'enforce' as const }],
    ),
  );
}

function anyPolicies(random: Random): Policy[] {
  return Array.from({ length: random.below(4) }, (_, at) => ({
    name: `policy-${at}`,
    when: random.pick(conditions) as Policy['when'],
    then: random.pick(actions),
    mode: random.below(5) === 0 ? ('monitor' as const) : ('enforce' as const),
  }));
}

function anySettings(random: Random): object {
  const onPending = random.pick(['pass', 'budget', 'challenge', 'block'] as const);
  return {
    challengeThreshold: random.pick([0.4, 0.6]),
    blockThreshold: random.pick([0.8, 0.95]),
    clearanceLevel: random.pick([0, 1]),
    ipCategoryRules: random.below(2) === 0 ? {} : { tor: 'block', datacenter: 'challenge' },
    endpointRules: [{ pattern: '/api/*', pathType: 'json' }],
    pathRules:
      random.below(2) === 0
        ? []
        : [{ pattern: '/login', action: random.pick(['allow', 'challenge', 'block'] as const), waiveSession: true }],
    enforcementPolicy: { html: { onPending } },
    botPolicy: { behaviours: { search: 'allow', training: random.pick(['block', 'challenge'] as const) } },
  };
}

function anyWorld(random: Random): World {
  return {
    settings: anySettings(random),
    policies: anyPolicies(random),
    rules: anyRules(random),
    entries: anyEntries(random),
  };
}

const edgeConfig = ({ settings, policies }: World): EdgeConfig =>
  edgeConfigOf(settings, { policySet: { version: 1, policies, limits: [], origins: [] } });

/** Most sessions are within their pace. */
const PACES: readonly PaceState[] = [...Array.from({ length: 18 }, () => 'within' as const), 'spent', 'beyond'];

interface Visit {
  facts: RequestFacts;
  visitor: KnownVisitor;
  hasRoom: boolean;
  isClearanceUsedUp: boolean;
  pace: PaceState;
}

function anyVisit(random: Random): Visit {
  const method = random.pick(['GET', 'GET', 'POST', 'OPTIONS']);
  const preflight = { origin: 'https://shop.test', 'access-control-request-method': 'PUT' };
  const headers: Record<string, string> = method === 'OPTIONS' ? preflight : {};
  if (random.below(2) === 0) headers['cookie'] = 'sid=1';
  const [ip, userAgent] = [random.pick(ips), random.pick(agents)];
  const signals = signalsOf({
    ip,
    userAgent,
    asn: random.pick([...asns, null]),
    countryCode: random.pick([...countries, null]),
    ipCategories: random.below(3) === 0 ? [random.pick(ipCategories)] : [],
    rolloutBucket: rolloutBucket(`${ip}\n${userAgent}`),
  });
  const path = random.pick(paths);
  const request = new Request(`https://site.test${path}`, { method, headers });
  const status = random.pick(['active', 'active', 'none', 'invalid-session', 'session-not-found'] as const);
  const riskScore = status === 'active' ? random.pick([0, 0.3, 0.5, 0.7, 0.9, 1]) : null;
  const session: SessionReading = { status, jti: null, riskScore, detectors: 0, refresh: null, paid: null };
  const bot = userAgent.startsWith('examplebot') ? botSignal(random.pick(tableBots), random.pick(botProofs)) : null;
  const level = random.pick([1, 2]);
  const clearance =
    random.below(3) === 0
      ? {
          jti: 'c',
          level,
          kind: 'image' as const,
          powDifficulty: POW_DIFFICULTY_MAX,
          eased: false,
          isAged: false,
          issuedAtMs: 0,
          sinceMs: 0,
          learned: null,
        }
      : null;
  return {
    facts: factsOf(path, { request, signals }),
    visitor: { bot, session, clearance },
    hasRoom: random.below(4) > 0,
    isClearanceUsedUp: random.below(4) === 0,
    pace: random.pick(PACES),
  };
}

type Judge = (visit: Visit) => JudgedContext;

async function gateOf(world: World): Promise<Judge> {
  const config = await configOf(world.settings, edgeConfig(world));
  const ruleset = compiledRules('inst_1', world.rules, world.entries);
  return ({ facts, visitor, hasRoom, isClearanceUsedUp, pace }) =>
    judge({
      facts,
      visitor,
      config,
      path: config.pathPolicy(facts.target, facts.headers.method),
      ruleset: { version: 1, match: (signals, nowSeconds) => ruleset.match(signals, nowSeconds) },
      held: null,
      hasRoom: () => hasRoom,
      paceOf: ({ status }) => ({
        reading: status === 'active' ? { state: pace, isWorkDue: false, callWeight: 1 } : null,
        payers: isClearanceUsedUp ? null : [],
      }),
    });
}

function outcomeOf({ verdict: { decision, redirect }, facts }: JudgedContext): string {
  return decision === 'allow' && redirect !== null && !isAt(facts.target, redirect.location) ? 'redirect' : decision;
}

function replayGateOf(world: World): ReplayGate {
  const ruleset = compiledRules('inst_1', world.rules, world.entries);
  return replayGate(
    edgeConfig(world),
    policyParts({ policies: world.policies, limits: [] }),
    table,
    (signals, ofLists) => ruleset.match(signals, NOW_MS / 1000, ofLists),
  );
}

/** The world after the change, and the gate by which a preview replays it. */
function changed(random: Random, now: World): { world: World; gate: ReplayGate; isSame: (name: string) => boolean } {
  if (random.below(2) === 0) {
    const policies = anyPolicies(random);
    const isSame = (name: string): boolean => {
      const [one, other] = [now, { policies }].map((set) => set.policies.find((policy) => policy.name === name));
      return JSON.stringify(one) === JSON.stringify(other);
    };
    const world = { ...now, policies };
    return { world, gate: { ...replayGateOf(now), ...policyParts({ policies, limits: [] }) }, isSame };
  }
  const isDeletion = random.below(3) === 0;
  const proposed = anyRules(random);
  const keyOf = ({ type, value }: Pick<EdgeRule, 'type' | 'value'>): string => `${type}:${value}`;
  const keys = new Set(proposed.map(keyOf));
  const kept = now.rules.filter((rule) => !keys.has(keyOf(rule)));
  const uncovered = isDeletion ? now.entries.filter((entry) => keys.has(keyOf(entry))) : [];
  const proposal = compiledProposal('inst_1', {
    rules: isDeletion ? [] : proposed,
    entries: uncovered,
    replaced: proposed.map(({ type, value }) => ({ type, value })),
  });
  const gate = replayGateOf(now);
  return {
    world: { ...now, rules: isDeletion ? kept : [...kept, ...proposed] },
    gate: {
      ...gate,
      match: (signals) => mergedMatch(gate.match(signals, 'every entry'), proposal, signals, NOW_MS / 1000),
    },
    isSame: () => true,
  };
}

test(`${CASES} random changes are previewed as the gate decides them`, async () => {
  const random = randomFrom(propertySeed);
  const sums = { same: 0, changed: 0, untold: 0 };
  for (let one = 0; one < CASES; one += 1) {
    const then = anyWorld(random);
    // Half of the time nothing but the change happened since the requests.
    const now = random.below(2) === 0 ? then : { ...anyWorld(random), settings: then.settings };
    const { world, gate, isSame } = changed(random, now);
    const [gateThen, gateNow, gateAfter] = await Promise.all([then, now, world].map(gateOf));
    const replayNow = replayGateOf(now);
    for (let request = 0; request < REQUESTS_OF_A_CASE; request += 1) {
      const visit = anyVisit(random);
      const context = gateThen!(visit);
      const record = recordOf(
        { step: forwardOn(context), response: new Response(null), originMs: 1 },
        { instanceId: 'inst_1', version: '1', isolate: 'i', seq: request },
      );
      expect(isUntouchable(record, replayNow)).toBe(false);
      // The log shows a clearance only where it lifted a challenge or stood for a session, and an empty budget only where it
      // decided. On a path without a pace it does not show whether the clearance was used up.
      const shown: Visit = {
        ...visit,
        isClearanceUsedUp: false,
        visitor: { ...visit.visitor, clearance: record.level === null ? null : visit.visitor.clearance },
        hasRoom: record.inputs?.policy?.reason !== 'pendingBudget',
        pace: loggedPace(record),
      };
      const [replayedNow, replayedAfter] = [replay(record, replayNow), replay(record, gate)];
      const preview = compared(replayedNow, replayedAfter, isSame);
      const isSure = replayedNow.unsure.length + replayedAfter.unsure.length === 0;
      const real = { from: outcomeOf(gateNow!(shown)), to: outcomeOf(gateAfter!(shown)) };
      if (preview === null) sums.untold += 1;
      else if (!isSure && preview.from === preview.to && real.from === real.to) sums.same += 1;
      else {
        if (real.from === real.to) sums.same += 1;
        else sums.changed += 1;
        expect({ from: preview.from, to: preview.to }, JSON.stringify({ one, record, now, world }, null, 1)).toEqual(
          real,
        );
      }
    }
  }
  const requests = CASES * REQUESTS_OF_A_CASE;
  expect(sums.changed).toBeGreaterThan(requests / 40);
  expect(sums.untold).toBeLessThan(requests / 4);
});

function loggedPace({ fired_rules: fired }: VerdictRecord): PaceState {
  const verdict = fired.find(({ id }) => id === 'limit:sessionPace')?.verdict;
  return verdict === undefined ? 'within' : verdict === 'block' ? 'beyond' : 'spent';
}
