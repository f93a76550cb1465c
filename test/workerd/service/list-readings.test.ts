/**
 * Readings of lists that are disturbed: by a second reader, by a run that is stopped, by somebody who changes the list
 * meanwhile, or by a publisher who sends more than a list may bring at once.
 */
import { runInDurableObject } from 'cloudflare:test';
import { beforeEach, describe, expect, test } from 'vitest';
import { refreshDueLists } from '../../../src/service/lists/refresh-list.ts';
import { apiKeyToken, createApiKey } from '../../../src/store/d1/api-keys.ts';
import { beginReading } from '../../../src/store/d1/rule-list-readings.ts';
import { findList } from '../../../src/store/d1/rule-lists.ts';
import { rootKey } from '../../../src/store/keys/root-key.ts';
import { RULES_PER_INSTANCE_MAX } from '../../../src/store/rule-book/object/write-rules.ts';
import { listPublisher, type Publisher } from '../../support/list-publisher.ts';
import { newInstance } from '../rule-book-instance.ts';
import { ruleBookStub } from '../rule-book-loaded.ts';
import { call, serviceEnv } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';

const outbound = {
  resolverUrl: 'https://cloudflare-dns.com/dns-query',
  standIns: new Map<string, string>(),
  allowsLoopback: false,
};
const name = 'bad';
const given = { name, url: 'https://lists.example/bad.txt', mode: 'enforce' };
const MINUTE_MS = 60_000;

let publisher: Publisher;
let instance: Awaited<ReturnType<typeof newInstance>>;
const ask = (path: string, body: object = {}) => call(instance.token, `/protect/lists${path}`, body);
const refresh = async (body: object = {}) => (await ask('/refresh', { name, ...body })).body;
const only = async () => (await ask('')).body.lists[0];
const decision = async (ip: string): Promise<string> => (await instance.rules('/explain', { ip })).body.decidedBy;
const runDue = (nowMs: number) => refreshDueLists(serviceEnv as never, nowMs, outbound);
const lines = (values: readonly string[]) => new Response(`${values.join('\n')}\n`);

/** A run that takes the list, does this, and is stopped. */
async function stopped(untilMs: number): Promise<void> {
  const list = await findList(serviceEnv, instance.id, name);
  expect(await beginReading(serviceEnv, list!, untilMs, testNow())).not.toBeNull();
}

beforeEach(async () => {
  // The scheduled run takes the lists of everybody.
  await serviceEnv.DB.prepare('DELETE FROM rule_lists').run();
  instance = await newInstance();
  publisher = listPublisher();
});

describe('a list that somebody reads', () => {
  test('is read by nobody else, and neither expires nor is replaced meanwhile', async () => {
    await ask('/create', { ...given, expirySeconds: 3600 });
    await ask('/create', { name: 'own' });
    await stopped(testNow() + 90 * MINUTE_MS);
    const second = await ask('/refresh', { name });
    expect([second.status, second.body.error.message]).toEqual([409, 'The list is being read. Try again in a minute']);
    await runDue(testNow() + 80 * MINUTE_MS);
    expect(publisher.requests).toEqual([]);
    expect((await ask('')).body.lists).toMatchObject([{ name, state: 'new' }, { name: 'own' }]);
  });

  test('by a run that is stopped is failing, and is tried again after a pause', async () => {
    await ask('/create', given);
    await stopped(testNow() + MINUTE_MS);
    await runDue(testNow() + 2 * MINUTE_MS);
    expect(publisher.requests).toEqual([]);
    const error = 'The last reading did not end. The list may be too large';
    expect(await only()).toMatchObject({ state: 'failing', failures: 1, error });
    await runDue(testNow() + 10 * MINUTE_MS);
    expect(await only()).toMatchObject({ state: 'good', failures: 0, error: null });
  });

  test('and that gets another address meanwhile is read from there, whole', async () => {
    const dated = { 'last-modified': 'Sat, 21 Nov 2026 00:00:00 GMT', etag: '"a"' };
    publisher.answer = async () => {
      await ask('/update', { name, url: 'https://lists.example/other.txt' });
      return new Response('1.2.3.4\n', { headers: dated });
    };
    await ask('/create', given);
    expect((await refresh()).list.nextAt).toBeLessThanOrEqual(testNow());
    publisher.answer = (_, headers) =>
      headers.has('if-modified-since') ? new Response(null, { status: 304 }) : lines(['5.6.7.8']);
    await runDue(testNow());
    expect(publisher.requests.at(-1)?.url).toBe('https://lists.example/other.txt');
    expect(await decision('5.6.7.8')).toBe('list:bad');
  });

  test('and that is deleted and made anew meanwhile does not have the entries that were read', async () => {
    publisher.answer = async () => {
      await ask('/delete', { name });
      await ask('/create', { name, mode: 'enforce' });
      return lines(['1.2.3.4']);
    };
    await ask('/create', given);
    await refresh();
    expect(await decision('1.2.3.4')).toBe('default');
    expect(await only()).toMatchObject({ state: 'new', entries: 0, url: null });
  });

  test('and that is deleted and made anew in the millisecond of its creation does not have them either', async () => {
    await ask('/create', given);
    const { createdAt } = await only();
    publisher.answer = async () => {
      await ask('/delete', { name });
      await ask('/create', { name, mode: 'enforce' });
      await serviceEnv.DB.prepare('UPDATE rule_lists SET created_at = ? WHERE instance_id = ?')
        .bind(createdAt, instance.id)
        .run();
      return lines(['1.2.3.4']);
    };
    await refresh();
    expect(await decision('1.2.3.4')).toBe('default');
    expect(await only()).toMatchObject({ createdAt, state: 'new', entries: 0 });
  });
});

test('entries that a stopped refresh has left of a deleted list can be deleted', async () => {
  await ruleBookStub(instance.id).putList({ name, verdict: 'block', mode: 'enforce' }, 1);
  expect((await ask('/delete', { name })).status).toBe(200);
  expect((await ask('/delete', { name })).status).toBe(404);
  expect(await ruleBookStub(instance.id).lists()).toEqual([]);
});

test('lists of a disabled account are not fetched', async () => {
  await ask('/create', given);
  const disable = 'UPDATE accounts SET disabled = 1 WHERE id = (SELECT account_id FROM protect_instances WHERE id = ?)';
  await serviceEnv.DB.prepare(disable).bind(instance.id).run();
  await runDue(testNow());
  expect(publisher.requests).toEqual([]);
});

describe('a reading', () => {
  test('without room for all of it changes nothing, and neither does such a file', async () => {
    await ask('/create', given);
    await refresh();
    await ask('/create', { name: 'own', mode: 'enforce' });
    await runInDurableObject(ruleBookStub(instance.id), (_, { storage }) => {
      const used = RULES_PER_INSTANCE_MAX - 2;
      storage.sql.exec('INSERT INTO counts (type, verdict, rules) VALUES (0, 0, ?)', used);
    });
    publisher.answer = () => lines(['5.6.7.8', '5.6.7.9', '9.9.9.9', '1.2.3.4']);
    const error = 'The list would have 3 entries more than now, and the instance has room for 1 rules and entries';
    expect((await refresh()).list).toMatchObject({ state: 'failing', entries: 1, error });
    expect(await decision('5.6.7.8')).toBe('default');
    const refused = await ask('/replace', { name: 'own', content: '5.6.7.8\n5.6.7.9\n' });
    expect(refused.status).toBe(409);
    expect((await ask('')).body.lists[1]).toMatchObject({ name: 'own', state: 'new', entries: 0 });
    // One goes and two come: there is room once the first is gone.
    publisher.answer = () => lines(['9.9.9.8', '9.9.9.9']);
    expect((await refresh()).list).toMatchObject({ entries: 2, lastChange: { added: 2, removed: 1 } });
  });

  test('that covers much of the internet is taken once that is accepted, also the first one', async () => {
    publisher.answer = () => lines(Array.from({ length: 80 }, (_, i) => `${11 + i}.0.0.0/8`));
    await ask('/create', given);
    const error = 'The new entries of the list cover 31 % of all IPv4 addresses';
    expect((await refresh()).list).toMatchObject({ state: 'failing', entries: 0, error });
    expect(await decision('50.1.1.1')).toBe('default');
    expect((await refresh({ acceptChange: true })).list).toMatchObject({ state: 'good', entries: 80 });
    expect((await refresh()).list.state).toBe('good');
  });

  test('of a few entries may bring a few more', async () => {
    await ask('/create', given);
    await refresh();
    publisher.answer = () => lines(['1.2.3.4', '5.6.7.8', '5.6.7.9']);
    expect((await refresh()).list).toMatchObject({ state: 'good', entries: 3 });
  });
});

describe('a Local API of CrowdSec', () => {
  const url = 'https://lapi.example/v1/decisions/stream';
  const decided = (value: string, type = 'ban') => ({ type, scope: 'Ip', value });
  const startups = () => publisher.requests.map((request) => new URL(request.url).searchParams.get('startup'));

  test('tells a change once, so after a preview or a stopped run everything is read', async () => {
    publisher.answer = () => Response.json({ new: [decided('1.2.3.4')], deleted: null });
    await ask('/create', { ...given, url, format: 'crowdsec' });
    await refresh();
    await refresh();
    await ask('/preview', { name });
    await refresh();
    await refresh();
    await stopped(testNow() - 1);
    await refresh();
    expect(startups()).toEqual(['true', 'false', 'true', 'true', 'false', 'true']);
  });

  test('is asked for everything by a list of captchas, where a deletion says nothing about bans', async () => {
    publisher.answer = () => Response.json({ new: [decided('1.2.3.4'), decided('5.6.7.8', 'captcha')], deleted: null });
    await ask('/create', { ...given, url, format: 'crowdsec', verdict: 'challenge' });
    await refresh();
    expect((await refresh()).list.entries).toBe(2);
    expect(startups()).toEqual(['true', 'true']);
  });

  test('decides by another verdict once it was read for that, whatever changes with it', async () => {
    const bans = Array.from({ length: 3 }, (_, i) => decided(`1.2.3.${i}`));
    const captchas = Array.from({ length: 20 }, (_, i) => decided(`5.6.7.${i}`, 'captcha'));
    publisher.answer = () => Response.json({ new: [...bans, ...captchas], deleted: null });
    await ask('/create', { ...given, url, format: 'crowdsec', verdict: 'challenge' });
    await refresh();
    await ask('/update', { name, verdict: 'block' });
    expect((await ruleBookStub(instance.id).lists())[0]?.verdict).toBe('challenge');
    await runDue(testNow());
    expect((await ruleBookStub(instance.id).lists())[0]).toMatchObject({ verdict: 'block', entries: 3 });
    expect(await decision('5.6.7.1')).toBe('default');
  });
});

describe('a secret of a list', () => {
  const secret = 'very-secret';

  test('in its address is shown nowhere, and is kept when the address comes back as it was shown', async () => {
    const url = `https://lists.example/bad.txt?license_key=${secret}&format=text`;
    const shown = 'https://lists.example/bad.txt?license_key=***&format=***';
    expect((await ask('/create', { ...given, url })).body.url).toBe(shown);
    expect((await ask('/update', { name, url: shown, intervalMinutes: 30 })).body.url).toBe(shown);
    const changed = await ask('/update', { name, url: shown.replace('bad.txt', 'other.txt') });
    expect([changed.status, changed.body.error.details[0].path]).toEqual([400, 'url']);
    await refresh();
    expect(publisher.requests[0]?.url).toBe(url);
    const { entries } = (await call(instance.token, '/audit-trail/get', { limit: 9 })).body;
    expect(entries.length).toBeGreaterThan(2);
    expect(JSON.stringify([entries, await only()])).not.toContain(secret);
  });

  test('in the path of its address is in no entry of the audit trail', async () => {
    const url = `https://lists.example/${secret}/bad.txt`;
    await ask('/create', { ...given, url });
    await ask('/update', { name, url: `${url}?format=text` });
    const { entries } = (await call(instance.token, '/audit-trail/get', { limit: 9 })).body;
    expect(entries.map(({ body }: { body: { url?: string } }) => body.url)).toContain('https://lists.example/***');
    expect(JSON.stringify(entries)).not.toContain(secret);
  });

  const rowText = async () =>
    JSON.stringify(await serviceEnv.DB.prepare('SELECT * FROM rule_lists WHERE name = ?').bind(name).first());

  test('in its address is sealed in the database, also that of a list that was stored before', async () => {
    const url = `https://lists.example/bad.txt?license_key=${secret}`;
    await ask('/create', { ...given, url });
    expect(await rowText()).not.toContain(secret);
    await ask('/update', { name, url: `${url}&v=2` });
    expect(await rowText()).not.toContain(secret);
    const { settings } = (await serviceEnv.DB.prepare('SELECT settings FROM rule_lists').first<{
      settings: string;
    }>())!;
    const inClear = JSON.stringify({ ...(JSON.parse(settings) as object), url });
    await serviceEnv.DB.prepare('UPDATE rule_lists SET settings = ?, url_sealed = NULL').bind(inClear).run();
    expect(await only()).toMatchObject({ url: 'https://lists.example/bad.txt?license_key=***' });
    await refresh();
    expect(publisher.requests.at(-1)?.url).toBe(url);
    expect(await rowText()).not.toContain(secret);
    expect(await only()).toMatchObject({ state: 'good', url: 'https://lists.example/bad.txt?license_key=***' });
  });

  test('goes with a preview to the address that it was given for, and to no other of the same host', async () => {
    await ask('/create', { ...given, authorization: { header: 'X-Key', value: secret } });
    await ask('/preview', { name });
    await ask('/preview', { name, url: 'https://lists.example/other.txt' });
    expect(publisher.requests.map(({ headers }) => headers.get('x-key'))).toEqual([secret, null]);
  });
});

test('who may only read previews a list as it is, and nothing of their own', async () => {
  await ask('/create', given);
  const sql = 'SELECT account_id FROM protect_instances WHERE id = ?';
  const accountId = (await serviceEnv.DB.prepare(sql).bind(instance.id).first<string>('account_id'))!;
  const made = { accountId, name: 'reader', permissions: { Protect: ['readProtect'] as const }, expiresInSeconds: 60 };
  const { id } = await createApiKey(serviceEnv, made, testNow());
  const token = await apiKeyToken(await rootKey(serviceEnv), { accountId, id });
  const preview = async (body: object) => (await call(token, '/protect/lists/preview', { name, ...body })).status;
  for (const own of [{ url: given.url }, { content: '1.2.3.4' }, { format: 'json', selector: 'a' }]) {
    expect(await preview(own)).toBe(403);
  }
  expect(publisher.requests).toEqual([]);
  expect([await preview({}), await preview({ verdict: 'challenge' })]).toEqual([200, 200]);
});
