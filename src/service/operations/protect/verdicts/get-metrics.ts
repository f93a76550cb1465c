/**
 * `GET /protect/metrics`: the counters of the edges of the account's active instances, summed, as Prometheus text. One
 * isolate's counters mean little alone, so they travel with the batches and are summed here.
 * `gatehouse_verdicts_missing` counts records that isolates numbered and the log does not have.
 * `gatehouse_dead_letters` counts batches that the queue gave up and the scheduled run tries again.
 */
import * as z from 'zod/mini';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import { clientJwtsOfInstance } from '../../../../store/d1/client-jwts.ts';
import { instancesOfAccount, type StoredInstance } from '../../../../store/d1/instances.ts';
import { ruleFailures } from '../../../../store/d1/object-failures.ts';
import { edgeTotals, verdictLogOf } from '../../../../store/event-log/client/verdict-log.ts';
import type { ServiceStore } from '../../../environment.ts';
import { protectOperation } from '../../define-operation.ts';
import { CLIENT_JWTS_LISTED_MAX, areRulesOld, clientJwtStatus } from '../instances/edges.ts';
import { metrics } from './metrics-table.ts';
import { countDeadLetters, instancesWithLetters } from '../../../ingest/dead-letters.ts';

/** What the service adds to what edges counted. */
type Added = Record<'verdicts_missing' | 'dead_letters' | 'ruleset_age_seconds' | 'ruleset_version', number>;

interface Sample {
  name: string;
  labels: string;
  value: number;
}

export const getMetrics = protectOperation({
  name: 'get-metrics',
  method: 'GET',
  path: '/protect/metrics',
  access: 'read',
  summary: 'Counters of every edge as Prometheus text',
  body: z.strictObject({}),
  response: z.string(),
  responseTypes: ['text/plain'],
  async handler({ store, account, nowMs }) {
    const instances = (await instancesOfAccount(store, account.id)).filter(({ active }) => active);
    const waiting = await instancesWithLetters(store);
    const failures = await ruleFailures(store);
    const samples = await Promise.all(
      instances.map(async (instance) => {
        const [{ counters, missing }, dead, rules, edges] = await Promise.all([
          edgeTotals(store, verdictLogOf(instance), nowMs),
          waiting?.has(instance.id) === false ? 0 : countDeadLetters(store, instance.id),
          ruleBook(store, instance.id).history(1, null),
          edgeGauges(store, instance, nowMs),
        ]);
        const changedMs = rules.versions[0]?.at ?? instance.createdAt;
        const added: Added = {
          verdicts_missing: missing,
          dead_letters: dead,
          ruleset_age_seconds: Math.max(0, Math.floor((nowMs - changedMs) / 1000)),
          ruleset_version: rules.version,
        };
        const failing = failures.filter(({ instanceId }) => instanceId === instance.id);
        const failed = Object.fromEntries(failing.map(({ step }) => [`rules_failing{step="${step}"}`, 1]));
        const counted = { ...zeros, ...counters, ...added, ...edges, ...failed };
        return Object.entries(counted).map(([name, value]) => metricSample(instance.id, name, value));
      }),
    );
    return new Response(exposition(samples.flat()), {
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
    });
  },
});

/** Of the edges whose client JWT works. One that was replaced leaves when its client JWT is revoked. */
async function edgeGauges(store: ServiceStore, instance: StoredInstance, nowMs: number) {
  const { edges } = await ruleBook(store, instance.id).edges();
  if (edges.length === 0) return {};
  const jwts = await clientJwtsOfInstance(store, instance.id, CLIENT_JWTS_LISTED_MAX);
  const active = new Set(
    jwts.filter((jwt) => clientJwtStatus(jwt, instance, nowMs) === 'active').map(({ jti }) => jti),
  );
  return Object.fromEntries(
    edges
      .filter(({ jti }) => active.has(jti))
      .flatMap((edge) => [
        [`edge_contact_age_seconds{edge="${edge.jti}"}`, Math.max(0, Math.floor((nowMs - edge.contactAt) / 1000))],
        [`edge_rules_old{edge="${edge.jti}"}`, areRulesOld(edge, nowMs) ? 1 : 0],
      ]),
  );
}

/** Every series before it is first counted. */
const zeros = Object.fromEntries(
  metrics.flatMap(({ name, label }) =>
    (label?.values.map((value) => `${name}{${label.name}="${value}"}`) ?? [name]).map((series) => [series, 0]),
  ),
);

/** Counter names are `word` or `word{label="value"}`. They are checked when they arrive. */
function metricSample(instanceId: string, counter: string, value: number): Sample {
  const match = /^([a-z0-9_]+)(?:\{(.*)\})?$/.exec(counter);
  const labels = [`instance="${instanceId}"`, ...(match?.[2] ? [match[2]] : [])];
  return { name: `gatehouse_${match?.[1] ?? 'unknown'}`, labels: labels.join(','), value };
}

/** In this format, the samples of one metric are together, after its help and its type. */
function exposition(samples: readonly Sample[]): string {
  const byName = Map.groupBy(samples, ({ name }) => name);
  const described = new Map(metrics.map((metric) => [`gatehouse_${metric.name}`, metric]));
  return [...new Set([...described.keys(), ...byName.keys()])]
    .toSorted()
    .map((name) => {
      const { help, type } = described.get(name) ?? { help: 'Counted by an edge of another version', type: 'counter' };
      const lines = (byName.get(name) ?? []).map(({ labels, value }) => `${name}{${labels}} ${value}\n`);
      return `# HELP ${name} ${help}.\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}
