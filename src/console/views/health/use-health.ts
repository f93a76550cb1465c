/** What is known about the health of an instance, asked again while the page is open. */
import { together, type Loaded, useCall, useGet, useSent } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import type { Instance } from '../../frame/instances.ts';
import { clientJwtFinding, edgesFinding, findingsOf, type EdgesFinding, type Finding, type State } from './findings.ts';
import { metricFamilies, type MetricFamily } from './exposition.ts';
import { rememberedSeen, type Remembered } from './seen.ts';

export interface Health {
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

export function useHealth(instance: Instance | null, everyMs: number): Health {
  const service = useSent<NonNullable<Health['service']>>({ method: 'GET', path: '/health' }, everyMs);
  const metrics = useGet('/protect/metrics', { everyMs });
  const jwts = useCall('/protect/client-jwt/list', instance === null ? null : { protectInstanceId: instance.id }, {
    everyMs,
  });
  const edges = useCall('/protect/edges', instance === null ? null : { protectInstanceId: instance.id }, { everyMs });
  const seen = instance === null ? { at: null, values: {} } : rememberedSeen(instance.id);
  const families = metrics.value === null ? [] : metricFamilies(metrics.value);
  const findings = metrics.value === null || instance === null ? null : findingsOf(families, instance.id, seen.values);
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
  service: Health['service'],
  others: readonly (State | undefined)[],
  findings: Health['findings'],
): State | null {
  if (service === null || others.includes(undefined) || findings === null) return null;
  const states = [service.status === 'ok' ? 'fine' : 'act', ...others, ...findings.map(({ state }) => state)];
  return states.includes('act') ? 'act' : states.includes('look') ? 'look' : 'fine';
}
