/** What is known about the health of an instance, asked again while the page is open. */
import { together, type Loaded, useCall, useGet, useSent } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import type { Instance } from '../../frame/instances.ts';
import {
  clientJwtFinding,
  edgesFinding,
  type EdgesFinding,
  type Finding,
  findingsOf,
  type Seen,
  type State,
} from './findings.ts';
import { metricFamilies, type MetricFamily } from './exposition.ts';

export interface HealthFacts {
  /** `null` until the service has said it. */
  service: { status: string; warnings?: readonly string[] } | null;
  jwt: { state: State; expiresAt: number | null } | null;
  edges: ResponseOf<'/protect/edges'> | null;
  edgesFinding: EdgesFinding | null;
  findings: readonly Finding[] | null;
  families: readonly MetricFamily[];
  seen: Remembered;
  /** Of everything above; `null` while something is unknown. */
  worst: State | null;
  /** The calls behind it. */
  loaded: Loaded<unknown>;
}

export function useHealth(instance: Instance, everyMs: number): HealthFacts {
  const service = useSent<NonNullable<HealthFacts['service']>>({ method: 'GET', path: '/health' }, everyMs);
  const metrics = useGet('/protect/metrics', { everyMs });
  const jwts = useCall('/protect/client-jwt/list', { protectInstanceId: instance.id }, { everyMs });
  const edges = useCall('/protect/edges', { protectInstanceId: instance.id }, { everyMs });
  const seen = rememberedSeen(instance.id);
  const families = metrics.value === null ? [] : metricFamilies(metrics.value);
  const findings = metrics.value === null ? null : findingsOf(families, instance.id, seen.values);
  const jwt = jwts.value === null ? null : clientJwtFinding(jwts.value.clientJwts, Date.now());
  const ofEdges = edges.value === null ? null : edgesFinding(edges.value.edges);
  return {
    service: service.value,
    jwt,
    edges: edges.value,
    edgesFinding: ofEdges,
    findings,
    families,
    seen,
    worst: worstOf(service.value, [jwt?.state, ofEdges?.state], findings),
    loaded: together<readonly unknown[]>(service, metrics, jwts, edges),
  };
}

function worstOf(
  service: HealthFacts['service'],
  others: readonly (State | undefined)[],
  findings: HealthFacts['findings'],
): State | null {
  if (service === null || others.includes(undefined) || findings === null) return null;
  const states = [service.status === 'ok' ? 'fine' : 'act', ...others, ...findings.map(({ state }) => state)];
  return states.includes('act') ? 'act' : states.includes('look') ? 'look' : 'fine';
}

/** The counters as a person last saw them, remembered by this browser. It is a convenience: without it, all count. */
const keyOf = (instanceId: string): string => `gatehouse-health-${instanceId}`;

interface Remembered {
  /** Epoch milliseconds; `null`: nobody said so yet. */
  at: number | null;
  values: Seen;
}

function rememberedSeen(instanceId: string): Remembered {
  try {
    const stored = JSON.parse(localStorage.getItem(keyOf(instanceId)) ?? 'null') as Remembered | null;
    if (typeof stored?.at === 'number' && typeof stored.values === 'object') return stored;
  } catch {
    // The browser stores nothing for this page, or another version stored something else.
  }
  return { at: null, values: {} };
}

export function rememberSeen(instanceId: string, values: Seen): void {
  try {
    localStorage.setItem(keyOf(instanceId), JSON.stringify({ at: Date.now(), values } satisfies Remembered));
  } catch {
    // As above.
  }
}
