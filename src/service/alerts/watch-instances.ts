/**
 * Looks at a few instances in each scheduled run, each every two minutes: reads what the service knows of it once, asks
 * every source, and records what began, what ended and what is about to expire.
 */
import { alertId, type Alert, type AlertFacts } from '../../alerts/alert.ts';
import { summaryOf } from '../../alerts/kind-words.ts';
import { stateChange } from '../../alerts/state-change.ts';
import {
  changeState,
  rememberCheck,
  statesOf,
  takeDueChecks,
  type DueCheck,
  type StoredState,
} from '../../store/d1/alert-states.ts';
import { recordAlert } from '../../store/d1/alerts.ts';
import { clientJwtsOfInstance } from '../../store/d1/client-jwts.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { ruleFailures, type RuleFailure } from '../../store/d1/object-failures.ts';
import { listsOf } from '../../store/d1/rule-lists.ts';
import { edgeTotals, shardCount, verdictLogOf } from '../../store/event-log/client/verdict-log.ts';
import { ruleBook } from '../../store/rule-book/client.ts';
import type { RuleBookRpc } from '../../store/rule-book/rpc.ts';
import type { ServiceStore } from '../environment.ts';
import { countedWindow } from './counted-window.ts';
import { expiryWarning } from '../../alerts/alert-times.ts';
import { stateSources, type InstanceView, type StateSource } from './sources.ts';

const CHECK_EVERY_MS = 120_000;
const INSTANCES_PER_RUN = 20;
/** To shards of the logs. One task must not use up the subrequests of the whole run. */
const SHARD_CALLS_PER_RUN = 300;
const JWTS_MAX = 1000;
const JWT_DAYS_AHEAD = 14;
/** A client JWT that no edge has used for so long is not missed. */
const UNUSED_MS = 24 * 3_600_000;

export async function watchInstances(store: ServiceStore, nowMs: number): Promise<void> {
  const limit = Math.max(1, Math.min(INSTANCES_PER_RUN, Math.floor(SHARD_CALLS_PER_RUN / shardCount(store))));
  const due = await takeDueChecks(store, limit, nowMs, nowMs + CHECK_EVERY_MS);
  if (due.length === 0) return;
  const failures = await ruleFailures(store);
  for (const check of due) {
    try {
      await watchInstance(store, check, failures, nowMs);
    } catch (error) {
      const { id } = check.instance;
      console.error(JSON.stringify({ event: 'alert-check-failed', instanceId: id, message: String(error) }));
    }
  }
}

async function watchInstance(
  store: ServiceStore,
  { instance, remembered }: DueCheck,
  failures: readonly RuleFailure[],
  nowMs: number,
): Promise<void> {
  const book = ruleBook(store, instance.id);
  await checkBase(book, instance.id);
  const [jwts, seen, totals, states, lists] = await Promise.all([
    clientJwtsOfInstance(store, instance.id, JWTS_MAX),
    book.edges(),
    edgeTotals(store, verdictLogOf(instance), nowMs),
    statesOf(store, instance.accountId, instance.id),
    listsOf(store, instance.id),
  ]);
  const working = jwts.filter(
    ({ issuedAt, expiresAt, revokedAt }) =>
      revokedAt === null && expiresAt > nowMs && issuedAt > (instance.clientJwtsRevokedBefore ?? -1),
  );
  const { remember, ...window } = countedWindow(totals.counters, totals.missing, remembered, nowMs);
  const view = {
    ...window,
    instance,
    nowMs,
    jwts: working,
    edges: seen.edges.filter(({ jti }) => working.some((jwt) => jwt.jti === jti)),
    failingSteps: failures.filter(({ instanceId }) => instanceId === instance.id).map(({ step }) => step),
    rules: seen.rules,
    rulesMax: seen.rulesMax,
    lists,
    rooms: totals.rooms,
  };
  for (const [kind, source] of Object.entries(stateSources)) {
    await applySource(store, kind as keyof typeof stateSources, source, states, view);
  }
  await warnOfClientJwts(store, view);
  await rememberCheck(store, instance.id, remember);
}

/** Alerts do not depend on it: R2 may be down. */
async function checkBase(book: RuleBookRpc, instanceId: string): Promise<void> {
  try {
    await book.checkBase('due');
  } catch (error) {
    console.error(JSON.stringify({ event: 'base-not-checked', instanceId, message: String(error) }));
  }
}

type SharedView = Omit<InstanceView, 'isOn'>;

async function applySource(
  store: ServiceStore,
  kind: keyof typeof stateSources,
  source: StateSource,
  states: readonly StoredState[],
  view: SharedView,
): Promise<void> {
  const { instance, nowMs } = view;
  const known = new Map(states.filter((state) => state.kind === kind).map((state) => [state.subject, state]));
  const isOn = (subject: string): boolean => (known.get(subject)?.begunAt ?? 0) > 0;
  const seen = source.see({ ...view, isOn });
  if (seen === null) return;
  const factsOf = new Map(seen.map(({ subject, facts }) => [subject, facts]));
  for (const subject of new Set([...known.keys(), ...factsOf.keys()])) {
    const state = known.get(subject) ?? null;
    const { next, happened } = stateChange(state, factsOf.has(subject), source, nowMs);
    if (happened === null && next?.phase === state?.phase) continue;
    const facts = factsOf.get(subject) ?? state?.facts ?? {};
    const alert =
      happened === null
        ? null
        : await alertOf(instance, { ...happened, kind, subject, facts, moment: happened.begunAt }, nowMs);
    const key = { accountId: instance.accountId, instanceId: instance.id, kind, subject };
    await store.DB.batch(changeState(store, key, state?.mark ?? null, { next, facts, alert }));
  }
}

async function warnOfClientJwts(store: ServiceStore, { instance, jwts, edges, nowMs }: SharedView): Promise<void> {
  for (const { jti, contactAt } of edges) {
    const jwt = jwts.find((one) => one.jti === jti);
    const warning = jwt && nowMs - contactAt < UNUSED_MS ? expiryWarning(jwt, JWT_DAYS_AHEAD, nowMs) : null;
    if (warning === null) continue;
    const facts = { jti, expiresAt: new Date(warning.expiresAt).toISOString() };
    const occasion = {
      kind: 'client-jwt-expiring',
      phase: 'once',
      subject: jti,
      facts,
      moment: warning.moment,
    } as const;
    await store.DB.batch(recordAlert(store, await alertOf(instance, occasion, nowMs)));
  }
}

async function alertOf(
  instance: StoredInstance,
  occasion: Pick<Alert, 'kind' | 'phase' | 'subject'> & { facts: AlertFacts; moment: string | number },
  nowMs: number,
): Promise<Alert> {
  const { moment, ...what } = occasion;
  const owned = { ...what, accountId: instance.accountId, instanceId: instance.id };
  return { ...owned, id: await alertId({ ...owned, moment }), at: nowMs, summary: summaryOf(what, instance.name) };
}
