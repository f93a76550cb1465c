/**
 * What of an instance needs somebody, from the counters of its edges. A counter only ever rises, so it counts from the
 * moment when a person last said that they have seen it.
 */
import type { MetricFamily, MetricSample } from './exposition.ts';
import type { ResponseOf } from '../../api/service-api.ts';

/** `act`: visitors or the log suffer. `look`: it may pass by itself. */
export type State = 'fine' | 'look' | 'act';

/**
 * Metrics whose rise should wake somebody, without the prefix; `look` for those that may rise for a short time. What to do
 * about each is in `advice.ts`: the overview needs none of those texts, and does not load them.
 */
export const watched = {
  rules_failing: 'act',
  edge_rules_old: 'act',
  rulesets_refused: 'act',
  requests_without_ruleset: 'look',
  origin_failures: 'act',
  named_origin_failures: 'act',
  origin_loops: 'act',
  exceptions: 'act',
  service_failures: 'look',
  verify_failures: 'look',
  local_challenges: 'look',
  verdicts_dropped: 'act',
  verdicts_missing: 'look',
  dead_letters: 'act',
  verdicts_rejected: 'act',
  unreadable_addresses: 'act',
  submissions_refused: 'act',
  scripts_not_injected: 'act',
  feed_failures: 'act',
  kv_failures: 'look',
  test_secrets_refused: 'act',
} as const satisfies Record<string, State>;
export type Sign = keyof typeof watched;

/** Single failures are normal, as while the service starts or is replaced: so many need nobody. */
const NORMAL: Partial<Record<Sign, number>> = { service_failures: 5 };

/** Sums by metric, and by metric and origin, when somebody last looked; empty for nobody yet. */
export type Seen = Readonly<Record<string, number>>;

export interface Finding {
  name: Sign;
  help: string;
  state: State;
  /** Of all labels together. */
  total: number;
  /** Of a counter: what came since somebody looked. `null` for a gauge, which says how it is now. */
  since: number | null;
  /** MetricSamples that are not zero, with their labels. */
  parts: readonly MetricSample[];
}

const PREFIX = 'gatehouse_';

/** `null`: the service's metrics lack one, as those of an older service do. It is not shown. */
export function findingsOf(families: readonly MetricFamily[], instanceId: string, seen: Seen): Finding[] {
  const byName = new Map(families.map((family) => [family.name, family]));
  return (Object.keys(watched) as Sign[]).flatMap((name) => {
    const family = byName.get(PREFIX + name);
    return family === undefined ? [] : [findingOf(name, family, instanceId, seen)];
  });
}

function findingOf(name: Sign, family: MetricFamily, instanceId: string, seen: Seen): Finding {
  const samples = family.samples.filter(({ labels }) => labels['instance'] === instanceId);
  const total = samples.reduce((sum, { value }) => sum + value, 0);
  const since = family.type === 'gauge' ? null : riseSince(total, seen[name]);
  return {
    name,
    help: family.help,
    state: (since ?? total) > (NORMAL[name] ?? 0) ? watched[name] : 'fine',
    total,
    since,
    parts: samples.filter(({ value }) => value !== 0),
  };
}

export function sampleOf(
  families: readonly MetricFamily[],
  metric: string,
  wanted: Readonly<Record<string, string>>,
): number | undefined {
  const samples = families.find(({ name }) => name === PREFIX + metric)?.samples ?? [];
  return samples.find(({ labels }) => Object.entries(wanted).every(([name, value]) => labels[name] === value))?.value;
}

/** A total below the one that was seen: the counters were erased meanwhile and began anew. */
export function riseSince(total: number, before = 0): number {
  return total < before ? total : total - before;
}

/** What to remember when somebody says that they have seen it all. */
export function seenOf(findings: readonly Finding[]): Seen {
  const values = findings.flatMap(({ name, total, since, parts }): [string, number][] =>
    since === null ? [] : [[name, total], ...ofOrigins(name, parts)],
  );
  return Object.fromEntries(values);
}

function ofOrigins(name: string, parts: readonly MetricSample[]): [string, number][] {
  return parts.flatMap(({ labels: { origin }, value }) =>
    origin === undefined ? [] : [[originKey(name, origin), value]],
  );
}

/** Where a counter of one origin is remembered, among the sums by metric. */
export function originKey(metric: string, origin: string): string {
  return `${metric} ${origin}`;
}

/** As `clientJwt.expiresInSeconds` in the edge's own health. */
const JWT_WARNING_MS = 14 * 86_400_000;

interface ClientJwt {
  status: string;
  expiresAt: number;
}

/** When the last client JWT that still works expires; `null`: none works. */
export function clientJwtFinding(
  jwts: readonly ClientJwt[],
  nowMs: number,
): { state: State; expiresAt: number | null } {
  const expiries = jwts.filter(({ status }) => status === 'active').map(({ expiresAt }) => expiresAt);
  if (expiries.length === 0) return { state: 'act', expiresAt: null };
  const expiresAt = Math.max(...expiries);
  return { state: expiresAt - nowMs < JWT_WARNING_MS ? 'act' : 'fine', expiresAt };
}

type Edge = ResponseOf<'/protect/edges'>['edges'][number];

/** How one edge looks by itself. */
export const edgeWords: Readonly<Record<Edge['state'], { name: string; state: State }>> = {
  'in-contact': { name: 'in contact', state: 'fine' },
  'old-rules': { name: 'old rules', state: 'act' },
  silent: { name: 'silent', state: 'act' },
  'never-seen': { name: 'never seen', state: 'look' },
  retired: { name: 'retired', state: 'look' },
};

export interface EdgesFinding {
  state: State;
  inContact: number;
  silent: number;
  oldRules: number;
  /** Epoch milliseconds of the newest contact of any edge. */
  lastContactAt: number | null;
}

/** Beside an edge that is in contact, a silent one may be one that was replaced, so it is only looked at. */
export function edgesFinding(edges: readonly Edge[]): EdgesFinding {
  const those = (state: Edge['state']): number => edges.filter((edge) => edge.state === state).length;
  const [silent, oldRules] = [those('silent'), those('old-rules')];
  const inContact = those('in-contact') + oldRules;
  const contacts = edges.flatMap(({ lastContactAt }) => (lastContactAt === null ? [] : [lastContactAt]));
  const state =
    oldRules > 0 || (silent > 0 && inContact === 0) ? 'act' : inContact === 0 || silent > 0 ? 'look' : 'fine';
  return { state, inContact, silent, oldRules, lastContactAt: contacts.length === 0 ? null : Math.max(...contacts) };
}

export interface OriginFinding {
  name: string;
  state: State;
  /** Requests that went there, of all time, and those of them that it did not answer. */
  requests: number;
  failures: number;
  /** Failures since somebody looked. */
  since: number;
}

const FAILURES = 'named_origin_failures';

/** How each origin that an instance names has responded, from the counters of its edges. */
export function originFindings(
  names: readonly string[],
  families: readonly MetricFamily[],
  instanceId: string,
  seen: Seen,
): OriginFinding[] {
  const valueOf = (metric: string, origin: string) => sampleOf(families, metric, { instance: instanceId, origin }) ?? 0;
  return names.map((name) => {
    const failures = valueOf(FAILURES, name);
    const since = riseSince(failures, seen[originKey(FAILURES, name)]);
    return {
      name,
      state: since > 0 ? 'act' : 'fine',
      requests: valueOf('named_origin_requests', name),
      failures,
      since,
    };
  });
}
