/** The edge's configuration: complete, or refused with one line per mistake. */
import { describe, expect, test } from 'vitest';
import { readEdgeEnvironment } from '../../../src/edge/environment.ts';

const claims = Buffer.from(JSON.stringify({ sub: 'inst_1', iat: 1, exp: 2 })).toString('base64url');
const good = {
  SERVICE_URL: 'https://gatehouse.example.com/',
  ORIGIN_URL: 'https://origin.example.com',
  CLIENT_JWT: `e30.${claims}.c2ln`,
};
const serviceMode = {
  rulesSource: 'service',
  otherConfig: 'src/edge/wrangler.any-service.toml',
} as const;
const anyServiceMode = {
  rulesSource: 'management-api',
  otherConfig: 'wrangler.toml',
} as const;
const mistakesOf = (env: Record<string, unknown>, mode: Parameters<typeof readEdgeEnvironment>[1] = serviceMode) => {
  const reading = readEdgeEnvironment(env, mode);
  return reading.ok ? [] : reading.error;
};

describe('environment', () => {
  test('the required variables alone get every default', () => {
    const reading = readEdgeEnvironment(good, serviceMode);
    expect(reading).toMatchObject({
      ok: true,
      value: {
        serviceUrl: 'https://gatehouse.example.com',
        siteverify: { url: 'https://gatehouse.example.com/siteverify', service: null },
        origin: { kind: 'url', base: 'https://origin.example.com' },
        signals: { kind: 'cloudflare' },
        rules: { kind: 'service', claims: { instanceId: 'inst_1' } },
        failMode: 'open',
        failModeVerify: 'closed',
        failModeChallenge: 'local',
        pollMs: 5000,
        maxStaleMs: 30_000,
        sinks: ['service'],
      },
    });
  });

  test('all mistakes are reported at once, one line each', () => {
    const mistakes = mistakesOf({
      SERVICE_URL: 'gatehouse',
      ORIGIN_URL: 'https://user:pass@origin.example.com',
      SIGNALS_SOURCE: 'headers',
      FAIL_MODE: 'sometimes',
      RULES_POLL_SECONDS: '-1',
      LOG_SINKS: 'service,pigeon,queue',
      OPS_TOKEN: 'short',
    });
    expect(mistakes.map((line) => line.slice(0, line.indexOf(' '))).toSorted()).toEqual([
      'CLIENT_JWT',
      'FAIL_MODE',
      'LOG_SINKS',
      'LOG_SINKS',
      'OPS_TOKEN',
      'ORIGIN_URL',
      'RULES_POLL_SECONDS',
      'SERVICE_URL',
      'SIGNALS_SECRET',
    ]);
  });

  test('no line repeats a secret', () => {
    const text = mistakesOf({ ...good, CLIENT_JWT: 'not-a-jwt-but-secret', OPS_TOKEN: 'tiny-secret' }).join('\n');
    expect(text).toContain('CLIENT_JWT');
    expect(text).not.toMatch(/not-a-jwt|tiny/);
  });

  test('the management API of another service needs its own credentials and no service sink', () => {
    expect(mistakesOf({ ...good, RULES_SOURCE: 'management-api' }, anyServiceMode)).toHaveLength(3);
    const keys = { API_KEY: 'k', SITE_KEY: 's', SITE_SECRET: 'x', LOG_SINKS: 'console', GATE_KV: {} };
    expect(mistakesOf({ ...good, RULES_SOURCE: 'management-api', ...keys }, anyServiceMode)).toEqual([]);
  });

  test('variables for the other kind of Worker give one line that names the file to deploy', () => {
    expect(mistakesOf({ ...good, RULES_SOURCE: 'management-api' })).toEqual([
      'RULES_SOURCE must be service in this Worker; deploy src/edge/wrangler.any-service.toml for the other one',
    ]);
    const keys = { API_KEY: 'k', SITE_KEY: 's', SITE_SECRET: 'x', LOG_SINKS: 'console', GATE_KV: {} };
    expect(mistakesOf({ ...good, RULES_SOURCE: 'service', ...keys }, anyServiceMode)).toEqual([
      'RULES_SOURCE must be management-api in this Worker; deploy wrangler.toml for the other one',
    ]);
    expect(mistakesOf({ ...good, ...keys }, anyServiceMode)).toEqual([]);
  });

  test('a bound service also verifies, unless verification has a URL of its own', () => {
    const SERVICE = { fetch: () => null };
    const verifierOf = (more: object) => {
      const reading = readEdgeEnvironment({ ...good, SERVICE, ...more }, serviceMode);
      return reading.ok && reading.value.siteverify;
    };
    expect(verifierOf({})).toEqual({ url: 'https://gatehouse.example.com/siteverify', service: SERVICE });
    const regional = 'https://eu.example.com/siteverify';
    expect(verifierOf({ SITEVERIFY_URL: regional })).toEqual({ url: regional, service: null });
  });

  test('the zone’s own origin and a service binding are valid origins', () => {
    expect(readEdgeEnvironment({ ...good, ORIGIN_URL: 'zone' }, serviceMode)).toMatchObject({
      value: { origin: { kind: 'zone' } },
    });
    const bound = readEdgeEnvironment({ ...good, ORIGIN_URL: '', ORIGIN: { fetch: () => null } }, serviceMode);
    expect(bound).toMatchObject({ value: { origin: { kind: 'binding', base: null } } });
  });

  test('only bindings named for it are origins of an instance', () => {
    const API = { fetch: () => null };
    const read = readEdgeEnvironment({ ...good, ORIGIN_API: API, SERVICE: API, ORIGIN_TEXT: 'x' }, serviceMode);
    const named = (name: string) => read.ok && read.value.originBinding(name);
    expect(['ORIGIN_API', 'SERVICE', 'ORIGIN_TEXT', 'ORIGIN_URL'].map(named)).toEqual([API, null, null, null]);
  });

  test('the zone is an origin of an instance on the platform, without the flag', () => {
    const isOpen = (more: object, flags = {}) => {
      const read = readEdgeEnvironment({ ...good, ...more }, serviceMode, flags);
      return read.ok && read.value.isZoneOpen;
    };
    const proxied = { SIGNALS_SOURCE: 'headers', SIGNALS_SECRET: 'a-secret-of-the-operators-proxy' };
    expect(isOpen({ SIGNALS_SOURCE: 'cloudflare' })).toBe(true);
    expect(isOpen({ SIGNALS_SOURCE: 'cloudflare' }, { global_fetch_strictly_public: true })).toBe(false);
    expect(isOpen(proxied)).toBe(false);
    expect(isOpen({ ...proxied, ORIGIN_URL: 'zone' })).toBe(true);
  });
});
