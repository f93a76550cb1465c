/** A gate with limits, as the unit tests visit it: the step that asks them, without the network around it. */
import { HmacSha256 } from '../../../src/bytes/hmac-sha256.ts';
import type { LimitTake, LimitTakings } from '../../../src/contract/edge/limits.ts';
import type { LimitForm } from '../../../src/contract/management/policy-set/policy-set-form.ts';
import { compileLimits } from '../../../src/edge/config/compiled-limits.ts';
import type { ChallengePorts } from '../../../src/edge/challenge/check-token.ts';
import { LocalChallenges } from '../../../src/edge/challenge/local-challenge.ts';
import { WaitLane } from '../../../src/edge/challenge/wait-lane.ts';
import { errorVerdict, type VerdictInputs, verdictOf } from '../../../src/decide/verdict.ts';
import { ExactTakes } from '../../../src/edge/limits/exact-takes.ts';
import { LimitCounts } from '../../../src/edge/limits/limit-counts.ts';
import { Limits } from '../../../src/edge/limits/limits.ts';
import { limitStep } from '../../../src/edge/challenge/limit-step.ts';
import { forwardOn, type Step } from '../../../src/edge/step/step.ts';
import { BodyBudget } from '../../../src/edge/submission/body-budget.ts';
import { NO_OUTCOME } from '../../../src/policies/outcome.ts';
import { ok } from '../../../src/result.ts';
import { serviceSaid } from '../../support/service-client.ts';
import { NOW_MS, contextOf, factsOf, signalsOf } from './edge-fixture.ts';

export const limitOf = (changes: Partial<LimitForm> = {}): LimitForm => ({
  name: 'login',
  key: ['ip'],
  count: 1,
  windowSeconds: 60,
  algorithm: 'bucket',
  on: 'request',
  then: '429',
  exact: false,
  mode: 'enforce',
  ...changes,
});
/** What the service says of the token that is then in the form; else there is none. */
export type Challenge = 'solved in the form' | 'not checked';
/** What the form has behind its fields then. */
export const TOKEN_IN_FORM = '&captcha-response=token';
const SOLVED = { verified: true, jti: 'c', level: 1, kind: 'pow', powDifficulty: 4 };

export interface Visit {
  path?: string;
  ip?: string;
  init?: RequestInit;
  policy?: object;
  /** The body, where a token in it was verified. */
  read?: string;
  inputs?: Partial<VerdictInputs>;
  challenge?: Challenge;
  /** The verdict of a step that forwards, where it is not the table's. */
  unchecked?: boolean;
}

/** Uses that the object grants of each exact limit, by count; the others it grants without end. */
type Grants = Record<number, number>;

/** A gate with these limits, which every request is asked about. `grants`: `null` where the object does not answer. */
export function gateWith(limits: readonly LimitForm[], grants: Grants | null = null) {
  const count = () => undefined;
  const clock = { nowMs: NOW_MS };
  const taken: LimitTake[] = [];
  const ports = { now: () => clock.nowMs, sleep: async () => {}, count };
  const ask = async (takes: readonly LimitTake[]) => {
    if (grants === null) return serviceSaid<LimitTakings>(null);
    taken.push(...takes);
    const takings = takes.map(({ count: of, asked: uses }) => {
      const granted = Math.min(uses, grants[of] ?? uses);
      if (grants[of] !== undefined) grants[of] -= granted;
      return [granted, 0, grants[of] === 0 ? 10_000 : 0] as const;
    });
    return ok(takings);
  };
  // The other requests of a batch look for its answer again and again, so each look lets the request that asks go on.
  const sleep = (): Promise<void> => new Promise((wake) => setImmediate(wake));
  const isolate = {
    limits: new Limits(
      new LimitCounts({ ...ports, report: null }),
      new ExactTakes({ ...ports, sleep, ask }),
      count,
      ports.now,
    ),
    bodies: new BodyBudget(count),
  };
  const siteverify = { outcome: 'not checked' as Challenge };
  const challengePorts: ChallengePorts = {
    ...isolate,
    environment: {
      rules: { kind: 'service', clientJwt: 'jwt', claims: { instanceId: 'inst_1', issuedAt: 0, expiresAt: 0 } },
      siteverify: {
        url: 'https://service.test/siteverify',
        service: {
          fetch: async () =>
            siteverify.outcome === 'not checked' ? Response.json({}, { status: 500 }) : Response.json(SOLVED),
        } as unknown as Fetcher,
      },
      failModeChallenge: 'local',
      failModeVerify: 'open',
    },
    service: { reachable: true },
    localChallenges: new LocalChallenges(),
    waitLane: new WaitLane(null),
    count,
  };
  const compiled = compileLimits(limits, new HmacSha256(new Uint8Array(32).fill(3)));

  async function visit(of: Visit = {}): Promise<Step> {
    const { path = '/login', ip = '192.0.2.1', init = {}, policy = {}, inputs = {}, read } = of;
    if (of.challenge) siteverify.outcome = of.challenge;
    const body = of.challenge ? `${init.body as string}${TOKEN_IN_FORM}` : init.body;
    const request = new Request(`https://site.test${path}`, { ...init, ...(body === undefined ? {} : { body }) });
    const facts = factsOf(path);
    const headers = { ...facts.headers, method: request.method };
    const given = await contextOf(path, policy, { facts: { ...facts, headers, request, signals: signalsOf({ ip }) } });
    const session = { status: 'active', jti: 'j', riskScore: 0, detectors: 0, refresh: null } as const;
    const made: VerdictInputs = {
      policy: given.config.policy,
      site: given.config.site,
      path: given.path,
      method: 'GET',
      preflight: false,
      ofPage: true,
      signals: given.facts.signals,
      bot: null,
      botAction: 'inherit',
      match: { network: null, client: null, fired: [] },
      session,
      risk: null,
      hasPendingRoom: true,
      pace: null,
      detectorNames: [],
      clearance: null,
      policies: NO_OUTCOME,
      ...inputs,
    };
    const verdict = of.unchecked === true ? errorVerdict('allow', 'Not checked.') : verdictOf(made);
    const context = { ...given, config: { ...given.config, limits: compiled }, verdict };
    const namedLimits = { names: limits.map(({ name }) => name), inputs: made };
    const bytes = read === undefined ? null : Uint8Array.from(Buffer.from(read));
    if (bytes) await request.arrayBuffer();
    return limitStep(
      forwardOn(context, bytes ? true : null, bytes),
      context,
      namedLimits,
      challengePorts,
      () => undefined,
    );
  }
  /** The origin responds to what was forwarded. */
  const respond = (step: Step, status: number | null) => {
    const counted = step.kind === 'forward' ? (step.counted ?? []) : [];
    isolate.limits.responded(counted, status === null ? null : new Response('', { status }));
  };
  return Object.assign(visit, { ...isolate, respond, clock, taken });
}

/** How a visit ended. */
export function endOf(step: Step): string {
  return step.kind === 'forward' ? 'forward' : step.answer.kind;
}
