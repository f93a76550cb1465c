/** How the local stack reads a wrangler file. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readWranglerFile, workerConfig } from '../../../src/cli/worker-config.ts';
import { expectRows } from '../../support/rows.ts';

const SERVICE_ADDRESS = { 'gatehouse-service': '127.0.0.1:8801' };

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gatehouse-toml-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('no configuration of a Worker lets query strings into Workers Logs', () =>
  expectRows(
    ['wrangler.toml', 'src/service/wrangler.toml', 'src/edge/wrangler.any-service.toml', 'wrangler.json'],
    (path) => {
      const text = readFileSync(path, 'utf8');
      const { observability } = path.endsWith('.json') ? JSON.parse(text) : parse(text);
      expect(observability).toEqual({ enabled: true, redact_query_string: true });
    },
  ));

describe('the local stack', () => {
  test('gives the service every binding of its wrangler file', () => {
    const file = readWranglerFile('src/service/wrangler.toml');
    const { env, exports, compatibilityFlags } = workerConfig(file, '', { MASTER_KEY: 'secret' });
    expect(env).toMatchObject({
      DB: { type: 'd1' },
      RULESETS: { type: 'r2' },
      RULE_BOOK: { type: 'durable-object', exportName: 'RuleBook' },
      MASTER_KEY: { type: 'text', value: 'secret' },
    });
    expect(Object.keys(exports ?? {}).toSorted()).toEqual(
      (file.durable_objects?.bindings ?? []).map((binding) => binding.class_name).toSorted(),
    );
    expect(compatibilityFlags).toEqual(file.compatibility_flags);
  });

  test('replaces variables of the file with its own', () => {
    const file = readWranglerFile('wrangler.toml');
    const { env } = workerConfig(file, '', { CLIENT_JWT: 'jwt', FAIL_MODE: 'closed' }, SERVICE_ADDRESS);
    expect(env?.['FAIL_MODE']).toEqual({ type: 'text', value: 'closed' });
    expect(env?.['RULES_SOURCE']).toEqual({ type: 'text', value: 'service' });
  });

  test('binds the edge to the service where it listens, and starts no edge without it', () => {
    const file = readWranglerFile('wrangler.toml');
    const { env } = workerConfig(file, '', { CLIENT_JWT: 'jwt' }, SERVICE_ADDRESS);
    expect(env?.['SERVICE']).toEqual({ type: 'external', address: '127.0.0.1:8801', http: {} });
    expect(() => workerConfig(file, '', { CLIENT_JWT: 'jwt' })).toThrow('gatehouse-service');
  });

  test('does not start a Worker without a required secret', () => {
    expect(() => workerConfig(readWranglerFile('wrangler.toml'), '', {})).toThrow('CLIENT_JWT');
  });

  test('refuses a file with a key that it does not support', () => {
    writeFileSync(join(dir, 'wrangler.toml'), 'name = "x"\n[[vectorize]]\nbinding = "V"\n');
    expect(() => readWranglerFile(join(dir, 'wrangler.toml'))).toThrow('vectorize');
  });
});
