/** The versions of an instance's policy set in the database: which of two writers wins, what is kept, and until when. */
import { expect, test } from 'vitest';
import { edgeConfigFor } from '../../../src/service/edge-api/edge-config.ts';
import { instanceById } from '../../../src/store/d1/instances.ts';
import { policySetOf, policySetVersions, putPolicySet } from '../../../src/store/d1/policy-sets.ts';
import type { PolicySet } from '../../../src/contract/management/policy-set/policy-set.ts';
import { call, newAccount, serviceEnv } from './service-under-test.ts';

const NOW_MS = Date.UTC(2027, 0, 1);
let names = 0;

async function newInstance() {
  names += 1;
  const account = await newAccount();
  const { siteKey } = account.site;
  const made = { name: 'Gate', cname: `policies${names}.example.org`, globalSiteKey: siteKey };
  const { id } = (await call(account.token, '/protect/instances/create', made)).body as { id: string };
  const put = (onVersion: number, document: PolicySet, more: object = {}) =>
    putPolicySet(
      serviceEnv,
      { instanceId: id, document, onVersion, note: null, actor: 'key_1', restores: null, ...more },
      NOW_MS + onVersion,
    );
  const versions = () => policySetVersions(serviceEnv, id, { before: null, limit: 1000 });
  const current = async () => (await instanceById(serviceEnv, id))?.policyVersion;
  return { ...account, siteKey, id, put, versions, current };
}

const setOf = (...pathsOfPolicies: string[]): PolicySet => ({
  policies: pathsOfPolicies.map((path, index) => ({
    name: `p${index}`,
    when: { field: 'path', operator: 'equals', value: path },
    then: { action: 'block' },
    mode: 'enforce',
  })),
  limits: [],
  origins: {},
});

test('a set is kept by its version, with who wrote it and why', async () => {
  const { id, put, versions, current } = await newInstance();
  expect(await policySetOf(serviceEnv, id, 0)).toEqual(setOf());
  expect(await put(0, setOf('/a'), { note: 'first' })).toEqual({ ok: true, value: 1 });
  expect(await put(1, setOf('/a', '/ü'), { actor: 'person@example.com', restores: 1 })).toEqual({ ok: true, value: 2 });
  expect(await policySetOf(serviceEnv, id, 2)).toEqual(setOf('/a', '/ü'));
  expect(await policySetOf(serviceEnv, id, 3)).toBeNull();
  expect(await current()).toBe(2);
  expect(await versions()).toEqual([
    { version: 2, policies: 2, limits: 0, note: null, actor: 'person@example.com', at: NOW_MS + 1, restores: 1 },
    { version: 1, policies: 1, limits: 0, note: 'first', actor: 'key_1', at: NOW_MS, restores: null },
  ]);
  expect(await policySetVersions(serviceEnv, id, { before: 2, limit: 1 })).toMatchObject([{ version: 1 }]);
});

test('of writers on the same version one wins, and the others learn the current one', async () => {
  const { put, versions, current } = await newInstance();
  const results = await Promise.all(Array.from({ length: 8 }, (_, index) => put(0, setOf(`/${index}`))));
  expect(results.filter(({ ok }) => ok)).toHaveLength(1);
  expect(results.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 7 }, () => ({ ok: false, error: 1 })));
  expect(await put(5, setOf())).toEqual({ ok: false, error: 1 });
  expect(await versions()).toHaveLength(1);
  expect(await current()).toBe(1);
});

test('an edge gets no config without policies while the version in force cannot be read', async () => {
  const { id, put } = await newInstance();
  await put(0, setOf('/a'));
  const instance = (await instanceById(serviceEnv, id))!;
  expect((await edgeConfigFor(serviceEnv, instance, NOW_MS)).policySet?.policies).toHaveLength(1);
  await expect(edgeConfigFor(serviceEnv, { ...instance, policyVersion: 7 }, NOW_MS)).rejects.toThrow('Version 7');
});

test('the newest 100 versions are kept', async () => {
  const { put, versions } = await newInstance();
  for (let version = 0; version < 103; version++) await put(version, setOf(`/${version}`));
  const kept = await versions();
  expect([kept.length, kept[0]?.version, kept.at(-1)?.version]).toEqual([100, 103, 4]);
});

test('of large sets fewer versions are kept', async () => {
  const { put, versions } = await newInstance();
  const large = setOf(...Array.from({ length: 800 }, (_, index) => `/${index}${'x'.repeat(500)}`));
  for (let version = 0; version < 40; version++) await put(version, large);
  const kept = await versions();
  const bytes = JSON.stringify(large).length;
  expect(kept.length).toBe(Math.floor((16 * 1024 * 1024) / bytes));
  expect(kept[0]?.version).toBe(40);
});

test.each([
  ['the instance is deleted', '/protect/instances/delete'],
  ['its site is deleted with it', '/sites/delete'],
])('when %s, its versions go with it, and none comes back', async (_, path) => {
  const { id, siteKey, token, put, versions } = await newInstance();
  await call(token, '/sites/create', { name: 'Other', settings: { domains: ['other.example'] } });
  await put(0, setOf('/a'));
  const body = path === '/sites/delete' ? { siteKey, deactivateInstance: true } : { id };
  expect((await call(token, path, body)).status).toBe(200);
  expect(await versions()).toEqual([]);
  expect(await put(1, setOf('/b'))).toEqual({ ok: false, error: null });
  expect(await versions()).toEqual([]);
});
