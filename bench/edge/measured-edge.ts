/** The edge as it is deployed, in a workerd of its own beside the stack of a bench, and what makes its service ready. */
import { readWranglerFile } from '../../src/cli/worker-config.ts';
import type { Stack } from '../../src/cli/stack.ts';
import { eventually } from '../../test/support/eventually.ts';
import { manage } from '../../test/support/manage.ts';
import { type RawWorker, startRawWorker } from '../../test/support/raw-workerd.ts';

export const WRANGLER_FILE = 'wrangler.toml';
/** One session that sends thousands of requests a second and never reports is stopped otherwise. */
const LOAD_TRIPS = ['burst', 'telemetry-absent', 'no-interaction'];
/** The service reads some lists of networks in each of its scheduled runs. */
const LIST_RUNS = 6;
/** Generated rules sometimes repeat a value. The repeated value is one rule. */
const LOADED_SHARE = 0.95;

/** `source`: the bundle. `cpu`, `cache`: see `startRawWorker`. */
export function startEdge(
  stack: Stack,
  originUrl: string,
  { source, ...place }: { source: string; cpu?: number; cache?: string },
): Promise<RawWorker> {
  const file = readWranglerFile(WRANGLER_FILE);
  return startRawWorker({
    source,
    ...place,
    compatibilityDate: file.compatibility_date,
    compatibilityFlags: file.compatibility_flags ?? [],
    kv: ['GATE_KV'],
    queues: ['VERDICT_QUEUE'],
    vars: {
      ...file.vars,
      SERVICE_URL: stack.serviceUrl,
      ORIGIN_URL: originUrl,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: stack.signalsSecret,
      CLIENT_JWT: stack.clientJwt,
      OPS_TOKEN: stack.opsToken,
    },
  });
}

/** Settings under which the instance lets the load of one visitor pass. `others` are set with them. */
export async function letLoadPass(stack: Stack, others: object = {}): Promise<void> {
  const pace = { html: 0, json: 0 };
  const settings = { id: stack.instanceId, ignoredDetectors: LOAD_TRIPS, pace, ...others };
  await manage(stack, '/protect/instances/update', settings);
  // The load comes out of nothing, as an attack does.
  await manage(stack, '/protect/attack-mode/set', { trigger: 'off' });
}

export async function readLists(stack: Stack): Promise<void> {
  for (let times = 0; times < LIST_RUNS; times += 1) await stack.runScheduled();
}

/** Whether the edge has `rules` rules, by its health endpoint. */
export async function hasRules({ opsToken }: Stack, edge: RawWorker, rules: number): Promise<boolean> {
  const headers = { authorization: `Bearer ${opsToken}` };
  const response = await fetch(`${edge.url}/__protect/health`, { headers });
  const { ruleset } = (await response.json()) as { ruleset: { rules: number } | null };
  return ruleset !== null && ruleset.rules >= rules * LOADED_SHARE;
}

/** The last batches of an import arrive as a delta. */
export async function rulesLoaded(stack: Stack, edge: RawWorker, rules: number): Promise<void> {
  await eventually(() => hasRules(stack, edge, rules), Boolean);
}
