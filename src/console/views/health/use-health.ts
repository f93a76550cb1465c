/** What is known about the health of an instance, asked again while the page is open. */
import { useCall, useGet, useSent } from '../../api/call.ts';
import type { Refusal } from '../../api/send.ts';
import type { Instance } from '../../frame/instances.ts';
import { metricFamilies } from './exposition.ts';
import type { MetricFamily } from './exposition.ts';
import { clientJwtFinding, findingsOf } from './findings.ts';
import type { Finding, State } from './findings.ts';
import { rememberedSeen } from './seen.ts';
import type { Remembered } from './seen.ts';

export interface Health {
  /** `null` until the service has said it. */
  service: { status: string; warnings?: readonly string[] } | null;
  jwt: { state: State; expiresAt: number | null } | null;
  findings: readonly Finding[] | null;
  families: readonly MetricFamily[];
  seen: Remembered;
  /** Of everything above; `null` while something is unknown. */
  worst: State | null;
  error: Refusal | null;
  reload: () => void;
}

export function useHealth(instance: Instance | null, everyMs: number): Health {
  const service = useSent<NonNullable<Health['service']>>({ method: 'GET', path: '/health' }, everyMs);
  const metrics = useGet('/protect/metrics', { everyMs });
  const jwts = useCall('/protect/client-jwt/list', instance === null ? null : { protectInstanceId: instance.id }, {
    everyMs,
  });
  const seen = instance === null ? { at: null, values: {} } : rememberedSeen(instance.id);
  const families = metrics.value === null ? [] : metricFamilies(metrics.value);
  const findings = metrics.value === null || instance === null ? null : findingsOf(families, instance.id, seen.values);
  const jwt = jwts.value === null ? null : clientJwtFinding(jwts.value.clientJwts, Date.now());
  return {
    service: service.value,
    jwt,
    findings,
    families,
    seen,
    worst: worstOf(service.value, jwt, findings),
    error: service.error ?? metrics.error ?? jwts.error,
    reload: () => {
      service.reload();
      metrics.reload();
      jwts.reload();
    },
  };
}

function worstOf(service: Health['service'], jwt: Health['jwt'], findings: Health['findings']): State | null {
  if (service === null || jwt === null || findings === null) return null;
  const states: State[] = [service.status === 'ok' ? 'fine' : 'act', jwt.state, ...findings.map(({ state }) => state)];
  return states.includes('act') ? 'act' : states.includes('look') ? 'look' : 'fine';
}
