/**
 * `GET /protect/metrics`: the counters of the edges of the account's active instances, summed, as Prometheus text. One
 * isolate's counters mean little alone, so they travel with the batches and are summed here.
 * `gatehouse_verdicts_missing` counts records that isolates numbered and the log does not have.
 * `gatehouse_dead_letters` counts batches that the queue gave up and the scheduled run tries again.
 */
import * as z from 'zod/mini';
import { instancesOfAccount } from '../../../../store/d1/instances.ts';
import { missingRecords, sumCounters, verdictLogOf } from '../../../../store/event-log/client/verdict-log.ts';
import { operation } from '../../define-operation.ts';
import { countDeadLetters, instancesWithLetters } from '../../../ingest/dead-letters.ts';

/** Values that go down again when records arrive late. */
const gauges: ReadonlySet<string> = new Set(['gatehouse_verdicts_missing', 'gatehouse_dead_letters']);

interface Sample {
  name: string;
  labels: string;
  value: number;
}

export const getMetrics = operation({
  name: 'get-metrics',
  method: 'GET',
  path: '/protect/metrics',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Counters of every edge as Prometheus text',
  body: z.strictObject({}),
  response: z.string(),
  responseTypes: ['text/plain'],
  async handler({ store, account }) {
    const instances = (await instancesOfAccount(store, account.id)).filter(({ active }) => active);
    const waiting = await instancesWithLetters(store);
    const samples = await Promise.all(
      instances.map(async (instance) => {
        const log = verdictLogOf(instance);
        const [counters, missing, dead] = await Promise.all([
          sumCounters(store, log),
          missingRecords(store, log),
          waiting?.has(instance.id) === false ? 0 : countDeadLetters(store, instance.id),
        ]);
        return [
          ...Object.entries(counters).map(([name, value]) => sampleOf(instance.id, name, value)),
          { name: 'gatehouse_verdicts_missing', labels: `instance="${instance.id}"`, value: missing },
          { name: 'gatehouse_dead_letters', labels: `instance="${instance.id}"`, value: dead },
        ];
      }),
    );
    return new Response(exposition(samples.flat()), {
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
    });
  },
});

/** Counter names are `word` or `word{label="value"}`. They are checked when they arrive. */
function sampleOf(instanceId: string, counter: string, value: number): Sample {
  const match = /^([a-z0-9_]+)(?:\{(.*)\})?$/.exec(counter);
  const labels = [`instance="${instanceId}"`, ...(match?.[2] ? [match[2]] : [])];
  return { name: `gatehouse_${match?.[1] ?? 'unknown'}`, labels: labels.join(','), value };
}

/** In this format, the samples of one metric are together, after its type. */
function exposition(samples: readonly Sample[]): string {
  const byName = Map.groupBy(samples, ({ name }) => name);
  return [...byName.keys()]
    .sort()
    .map((name) => {
      const type = gauges.has(name) ? 'gauge' : 'counter';
      const lines = byName.get(name) ?? [];
      return `# TYPE ${name} ${type}\n${lines.map(({ labels, value }) => `${name}{${labels}} ${value}\n`).join('')}`;
    })
    .join('');
}
