/**
 * Work that one request does for others. On Workers a promise belongs to the request that made it, and workerd warns of one
 * that another request settles after its own has ended. `startRawWorker` fails on that warning when the Worker stops.
 */
import { expect, test } from 'vitest';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import { startRawWorker } from '../support/raw-workerd.ts';

test.each(['spends', 'takes'])(
  'in batches of %s, a request that goes on without another leaves no promise behind',
  async (kind) => {
    const source = await bundleWorker('test/support/shared-work-worker.ts');
    const worker = await startRawWorker({ source, compatibilityDate: '2026-10-01' });
    const call = async (path: string) => (await fetch(`${worker.url}${path}`)).json();
    const first = call(`/${kind}/first`);
    const second = call(`/${kind}/second`);
    await Promise.all([first, second]);
    expect(await call('/begun')).toBe(2);
    await worker.stop();
  },
);
