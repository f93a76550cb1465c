/** How each origin that an instance names has responded, from the counters of its edges. */
import type { MetricFamily } from './exposition.ts';
import { originKey, riseSince, type Seen, type State } from './findings.ts';

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

export function originFindings(
  names: readonly string[],
  families: readonly MetricFamily[],
  instanceId: string,
  seen: Seen,
): OriginFinding[] {
  const valueOf = (metric: string, origin: string): number => {
    const samples = families.find(({ name }) => name === `gatehouse_${metric}`)?.samples ?? [];
    const own = samples.find(({ labels }) => labels['instance'] === instanceId && labels['origin'] === origin);
    return own?.value ?? 0;
  };
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
