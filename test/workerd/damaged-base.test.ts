/** A base whose file in R2 is damaged or gone: it is noticed, compiled again from the book, and named by health. */
import { expect, test } from 'vitest';
import { edgeVersion } from '../../src/contract/edge/edge-responses.ts';
import { importRulesetKeys, openBase } from '../../src/rules/ruleset-files.ts';
import { ruleBook } from '../../src/store/rule-book/client.ts';
import { rulesetKey } from '../../src/store/rule-book/ruleset-objects.ts';
import { later } from '../support/clock.ts';
import { asEdge, newInstance } from './rule-book-instance.ts';
import { send, serviceEnv } from './service/service-under-test.ts';

/** An instance with a rule in its base, and what its edges see. */
async function instanceWithBase() {
  const instance = await newInstance();
  const { id, jwt, rules } = instance;
  await rules('/create', { rules: [{ type: 'userAgent', value: 'badbot', verdict: 'block' }] });
  await ruleBook(serviceEnv, id).compile();
  const base = async () => edgeVersion.parse(await (await asEdge(jwt, '/edge/v1/version')).json()).base;
  /** Whether an edge that starts now can load the base, with its rule. */
  const loads = async (): Promise<boolean> => {
    const { hash } = await base();
    const file = await asEdge(jwt, `/edge/v1/rulesets/${hash}`);
    if (file.status !== 200) return false;
    const { rulesetKeys } = await (await asEdge(jwt, '/edge/v1/config')).json<any>();
    const opened = await openBase(await file.bytes(), hash, id, await importRulesetKeys(rulesetKeys));
    return opened.ok && opened.value.snapshot.ruleCount === 1;
  };
  const report = async () =>
    send(`/edge/v1/rulesets/${(await base()).hash}/refused`, {
      method: 'POST',
      headers: { authorization: `Bearer ${jwt}` },
    });
  return { ...instance, base, loads, report };
}

async function spoil(id: string, hash: string, change: ((file: Uint8Array) => Uint8Array) | null): Promise<void> {
  const key = rulesetKey(id, hash);
  if (change === null) return serviceEnv.RULESETS.delete(key);
  const file = await (await serviceEnv.RULESETS.get(key))!.bytes();
  await serviceEnv.RULESETS.put(key, change(file));
}

async function warnings(): Promise<string> {
  return JSON.stringify((await (await send('/health')).json<any>()).warnings ?? []);
}

const HEALTH = /The stored rules of \d+ instance\(s\) were damaged or gone from R2/;
const spoilt: [string, ((file: Uint8Array) => Uint8Array) | null][] = [
  ['is cut off', (file) => file.slice(0, 200)],
  ['has one other byte', (file) => file.with(300, file[300]! ^ 1)],
  ['is gone', null],
];

test.each(spoilt)('a base whose file %s is compiled again when an edge refuses it', async (_, change) => {
  const { id, base, loads, report } = await instanceWithBase();
  const { hash } = await base();
  expect(await loads()).toBe(true);
  await spoil(id, hash, change);
  expect(await loads()).toBe(false);
  // An edge that gets no file has nothing to refuse: the service notices that itself.
  if (change !== null) expect((await report()).status).toBe(202);
  expect(await loads()).toBe(true);
  expect((await base()).hash).not.toBe(hash);
  expect(await warnings()).toMatch(HEALTH);
});

test.each(spoilt)('a base whose file %s is found by the hourly look, without an edge', async (_, change) => {
  const { id, base, loads } = await instanceWithBase();
  const { hash } = await base();
  await spoil(id, hash, change);
  const book = ruleBook(serviceEnv, id);
  await book.checkBase('due');
  expect((await base()).hash).toBe(hash);
  later(3_600_000);
  await book.checkBase('due');
  expect((await base()).hash).not.toBe(hash);
  expect(await loads()).toBe(true);
  expect(await warnings()).toMatch(HEALTH);
});

test('health names a damaged base until the next look finds a sound one', async () => {
  const { id, base, loads, report } = await instanceWithBase();
  const failing = async () =>
    (await serviceEnv.DB.prepare('SELECT step FROM rule_failures WHERE instance_id = ?').bind(id).all()).results;
  await spoil(id, (await base()).hash, null);
  await report();
  expect([await loads(), await failing()]).toEqual([true, [{ step: 'file' }]]);
  later(3_600_000);
  await ruleBook(serviceEnv, id).checkBase('due');
  expect(await failing()).toEqual([]);
});

test('a report about a base that is sound changes nothing', async () => {
  const { base, report } = await instanceWithBase();
  const before = await base();
  expect((await report()).status).toBe(202);
  expect(await base()).toEqual(before);
});
