/**
 * A local stack with a full log and many rules. The log is written while the service is stopped, by a Worker that leaves
 * what sealing leaves. With a directory that is kept, it is written once.
 */
import { startServiceWorker } from '../../src/cli/service-worker.ts';
import { type Stack, startStack } from '../../src/cli/stack.ts';
import { StateDir } from '../../src/cli/state.ts';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import { rounded } from '../measure/statistics.ts';

const PORT_BASE = 8897;
const SEGMENT_ROWS = 20_000;
const RULES_PER_CALL = 10_000;
const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 86_400_000;

export type Api = <Answer>(path: string, body: object) => Promise<Answer>;

export interface FilledStack {
  stack: Stack;
  api: Api;
}

export async function filledStack(stateDir: string, rows: number, rules: number): Promise<FilledStack> {
  const start = () => startStack({ portBase: PORT_BASE, stateDir, quiet: true });
  let stack = await start();
  try {
    if ((await verdictsIn(apiOf(stack))) < rows) {
      await stack.stop();
      await fillLog(stack, rows);
      // A new start also makes a new link for the sign-in; the former one is too old after some minutes.
      stack = await start();
    }
    const api = apiOf(stack);
    for (let first = 0; first < rules; first += RULES_PER_CALL) {
      const few = Array.from({ length: Math.min(RULES_PER_CALL, rules - first) }, (_, at) => ruleAt(first + at));
      await api('/protect/access-rules/create', { rules: few });
    }
    console.log(`${await verdictsIn(api)} verdicts of a week, ${rules} rules`);
    return { stack, api };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

function apiOf({ serviceUrl, apiKey }: Stack): Api {
  return async <Answer>(path: string, body: object): Promise<Answer> => {
    const response = await fetch(serviceUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  };
}

async function verdictsIn(api: Api): Promise<number> {
  return (await api<{ total: number }>('/protect/verdicts', { limit: 1 })).total;
}

async function fillLog({ stateDir, instanceId, siteKey }: Stack, rows: number): Promise<void> {
  const state = new StateDir(stateDir);
  const loader = await startServiceWorker({
    storage: state.storage('service'),
    quiet: true,
    vars: { SERVICE_URL: 'http://service.bench', MASTER_KEY: state.secrets().masterKey },
    bundle: () => bundleWorker('bench/workers/console-worker.ts'),
  });
  const until = Date.now() - MINUTE_MS;
  const of = { instance_id: instanceId, site_key: siteKey };
  const send = async (path: string, first: number): Promise<void> => {
    const span = { first, rows: Math.min(SEGMENT_ROWS, rows - first), total: rows, since: until - WEEK_MS, until, of };
    const response = await fetch(new URL(path, loader.url), {
      method: 'POST',
      body: JSON.stringify({ instanceId, span }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  try {
    const started = performance.now();
    for (let first = 0; first < rows; first += SEGMENT_ROWS) await send('/bench/load', first);
    await send('/bench/restart', 0);
    console.log(`${rows} verdicts written in ${rounded((performance.now() - started) / 1000)} s`);
  } finally {
    await loader.dispose();
  }
}

function ruleAt(at: number): object {
  const value = `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
  return { type: 'ip', value, verdict: 'block', note: at % 3 === 0 ? `from list ${at}` : null };
}
