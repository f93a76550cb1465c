/** A service that is not configured: what its caller, its log, the scheduled run and the queue see. */
import { createScheduledController } from 'cloudflare:test';
import { afterEach, describe, expect, test, vi } from 'vitest';
import service from '../../../src/service/index.ts';
import { expectRows } from '../../support/rows.ts';
import { send, serviceEnv } from './service-under-test.ts';

const broken = (): ServiceEnv => ({
  ...serviceEnv,
  SERVICE_URL: 'gatehouse',
  MASTER_KEY: 'leaked',
  JURISDICTION: 'de',
});
const names = ['SERVICE_URL', 'MASTER_KEY', 'JURISDICTION'];

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a service with mistakes in its environment', () => {
  test('responds 503 at every path', () =>
    expectRows(['/health', '/sites/get', '/edge/v1/version', '/.well-known/jwks.json', '/nowhere'], async (path) => {
      vi.spyOn(console, 'error').mockReturnValue();
      const response = await send(path, {}, broken());
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('60');
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      const text = await response.text();
      expect(JSON.parse(text)).toMatchObject({ error: { code: 503, key: 'API.UNAVAILABLE' } });
      for (const name of names) expect(text).not.toContain(name);
    }));

  test('logs each mistake once, without the value of a secret', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    const env = broken();
    await send('/health', {}, env);
    await send('/health', {}, env);
    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)) as { event: string; mistake: string });
    expect(lines.map(({ event }) => event)).toEqual(names.map(() => 'environment-mistake'));
    expect(lines.map(({ mistake }) => mistake.slice(0, mistake.indexOf(' '))).toSorted()).toEqual(names.toSorted());
    expect(JSON.stringify(lines)).not.toContain('leaked');
  });

  test.each(['scheduled', 'queue'] as const)('throws every mistake in its %s handler', async (handler) => {
    vi.spyOn(console, 'error').mockReturnValue();
    const run = async (): Promise<void> => {
      if (handler === 'scheduled') await service.scheduled(createScheduledController(), broken());
      else await service.queue({ queue: 'q', messages: [] } as unknown as MessageBatch, broken());
    };
    await expect(run()).rejects.toThrow(/SERVICE_URL.*MASTER_KEY.*JURISDICTION/s);
  });
});
