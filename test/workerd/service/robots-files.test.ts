/** The robots.txt of origins as edges read them: what is kept, for which hosts, how often it is written, and until when. */
import { expect, test, vi } from 'vitest';
import { ROBOTS_HOSTS_MAX, keepRobotsFile, robotsFile, robotsHosts } from '../../../src/store/d1/robots-files.ts';
import type { RobotsResponse } from '../../../src/contract/management/bot-traffic.ts';
import { eventually } from '../../support/eventually.ts';
import { expectRows } from '../../support/rows.ts';
import { call, newAccount, serviceEnv } from './service-under-test.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2027, 0, 1);
let names = 0;

async function newInstance() {
  names += 1;
  const account = await newAccount();
  const { siteKey } = account.site;
  const made = { name: 'Gate', cname: `robots${names}.example.org`, globalSiteKey: siteKey };
  const id = (await call(account.token, '/protect/instances/create', made)).body.id as string;
  return { ...account, siteKey, id };
}
const fileOf = (host: string, text: string) => ({ host, state: 'file' as const, text, hash: text });

async function edgeOf({ token, id }: { token: string; id: string }) {
  const issued = await call(token, '/protect/client-jwt/generate', { protectInstanceId: id, expiresInWeeks: 1 });
  return (body: object) => call(issued.body.clientJwt as string, '/edge/v1/robots', body);
}

test('an edge that cannot read the origin gets the file that another one read, merged', async () => {
  const instance = await newInstance();
  const ask = await edgeOf(instance);
  await ask({ host: 'a.test', state: 'file', text: 'User-agent: *\nDisallow: /kept\n' });
  const kept = () => robotsFile(serviceEnv, instance.id, 'a.test');
  await eventually(kept, (row) => row?.state === 'file');
  const failed = await ask({ host: 'A.test', state: 'error', text: '' });
  expect(failed.body.text).toContain('Disallow: /kept');
  await eventually(kept, (row) => row?.state === 'error');
  expect(await kept()).toMatchObject({
    text: 'User-agent: *\nDisallow: /kept\n',
    readAt: expect.any(Number) as number,
  });
  const never = await ask({ host: 'b.test', state: 'error', text: 'User-agent: *\nDisallow: /own\n' });
  expect(never.body.text).toContain('Disallow: /own');
});

test('a call with a mistake is refused', () =>
  expectRows(
    [
      ['no host', { state: 'file', text: '' }],
      ['a host that is none', { host: 'a b', state: 'file', text: '' }],
      ['an unknown state', { host: 'a.test', state: 'fine', text: '' }],
      ['a text that is too long', { host: 'a.test', state: 'file', text: 'a'.repeat(512_001) }],
    ],
    async ([, body]) => {
      const ask = await edgeOf(await newInstance());
      expect((await ask(body)).status).toBe(400);
    },
    ([name]) => name,
  ));

test('a file is written when it or its state changes, and else once an hour', async () => {
  const { id } = await newInstance();
  const seen = async (file: Parameters<typeof keepRobotsFile>[2], atMs: number) => {
    await keepRobotsFile(serviceEnv, id, file, atMs);
    const row = await robotsFile(serviceEnv, id, 'a.test');
    return [row?.state, row?.text, (row?.readAt ?? 0) - NOW_MS, (row?.seenAt ?? 0) - NOW_MS];
  };
  expect(await seen(fileOf('a.test', 'one'), NOW_MS)).toEqual(['file', 'one', 0, 0]);
  expect(await seen(fileOf('a.test', 'one'), NOW_MS + 1000)).toEqual(['file', 'one', 0, 0]);
  expect(await seen(fileOf('a.test', 'two'), NOW_MS + 2000)).toEqual(['file', 'two', 2000, 2000]);
  const failure = { ...fileOf('a.test', 'two'), state: 'error' as const };
  expect(await seen(failure, NOW_MS + 3000)).toEqual(['error', 'two', 2000, 3000]);
  expect(await seen(failure, NOW_MS + 4000)).toEqual(['error', 'two', 2000, 3000]);
  expect(await seen(fileOf('a.test', 'two'), NOW_MS + 5000)).toEqual(['file', 'two', 5000, 5000]);
  expect(await seen(fileOf('a.test', 'two'), NOW_MS + HOUR_MS + 5000)).toEqual([
    'file',
    'two',
    HOUR_MS + 5000,
    HOUR_MS + 5000,
  ]);
});

test('made-up hosts never take the place of one that was asked for during the last day', async () => {
  const { id } = await newInstance();
  for (let host = 0; host < ROBOTS_HOSTS_MAX + 5; host++) {
    await keepRobotsFile(serviceEnv, id, fileOf(`h${host}.test`, ''), NOW_MS + host);
  }
  const hosts = async () => (await robotsHosts(serviceEnv, id)).map(({ host }) => host);
  expect(await hosts()).toHaveLength(ROBOTS_HOSTS_MAX);
  expect(await hosts()).toContain('h0.test');
  await keepRobotsFile(serviceEnv, id, fileOf('late.test', ''), NOW_MS + 25 * HOUR_MS);
  expect(await hosts()).toHaveLength(ROBOTS_HOSTS_MAX);
  expect((await hosts())[0]).toBe('late.test');
  expect(await hosts()).not.toContain('h0.test');
});

test.each([
  ['the instance is deleted', '/protect/instances/delete'],
  ['its site is deleted with it', '/sites/delete'],
])('when %s, its files go with it, and none comes back', async (_, path) => {
  const instance = await newInstance();
  await call(instance.token, '/sites/create', { name: 'Other', settings: { domains: ['other.example'] } });
  await keepRobotsFile(serviceEnv, instance.id, fileOf('a.test', 'one'), NOW_MS);
  expect(await robotsHosts(serviceEnv, instance.id)).toHaveLength(1);
  const body = path === '/sites/delete' ? { siteKey: instance.siteKey, deactivateInstance: true } : { id: instance.id };
  expect((await call(instance.token, path, body)).status).toBe(200);
  await keepRobotsFile(serviceEnv, instance.id, fileOf('b.test', 'one'), NOW_MS);
  expect(await robotsHosts(serviceEnv, instance.id)).toEqual([]);
});

test('a file that cannot be kept is merged all the same', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {});
  const instance = await newInstance();
  const ask = await edgeOf(instance);
  await serviceEnv.DB.prepare('ALTER TABLE robots_files RENAME TO robots_files_away').run();
  try {
    const { body } = await ask({ host: 'a.test', state: 'file', text: 'User-agent: *\nDisallow: /x\n' });
    expect(body.text).toContain('Disallow: /x');
    await eventually(
      async () => error.mock.calls.flat().join(),
      (lines) => lines.includes('robots-not-kept'),
    );
  } finally {
    await serviceEnv.DB.prepare('ALTER TABLE robots_files_away RENAME TO robots_files').run();
    error.mockRestore();
  }
});

test('a file is shown as the origin has it, as it is served, and with what it tells each bot', async () => {
  const instance = await newInstance();
  const show = async (body: object = {}) =>
    (await call(instance.token, '/protect/robots', body)).body as RobotsResponse;
  const empty = await show();
  expect(empty).toMatchObject({ host: null, origin: null, hosts: [], isServed: false });
  expect(empty.served).toContain('Content-Signal: ');
  const text = 'User-agent: *\nDisallow: /private/\n';
  await keepRobotsFile(serviceEnv, instance.id, fileOf('a.test', text), NOW_MS);
  await keepRobotsFile(serviceEnv, instance.id, { ...fileOf('b.test', ''), state: 'none' }, NOW_MS + 1);
  await keepRobotsFile(serviceEnv, instance.id, { ...fileOf('a.test', text), state: 'error' }, NOW_MS + 2);
  await call(instance.token, '/protect/instances/update', { id: instance.id, monitor: false });
  const shown = await show();
  expect(shown.hosts.map(({ host, state }) => [host, state])).toEqual([
    ['a.test', 'error'],
    ['b.test', 'none'],
  ]);
  expect(shown.origin).toEqual({ host: 'a.test', state: 'error', readAt: NOW_MS, seenAt: NOW_MS + 2, text });
  expect(shown.isServed).toBe(true);
  const told = (answer: RobotsResponse, id: string) => {
    const bot = answer.bots.find((one) => one.id === id);
    return [bot?.action, bot?.told, bot?.rules];
  };
  expect(told(shown, 'bingbot')).toEqual(['allow', 'some', ['Disallow: /private/']]);
  expect(told(shown, 'gptbot')).toEqual(['block', 'none', ['Disallow: /']]);
  expect((await show({ host: 'B.test' })).origin?.state).toBe('none');
  expect((await show({ host: 'c.test' })).origin).toBeNull();
  const tried = await show({ botPolicy: { preset: 'open', behaviours: { training: 'challenge' } } });
  expect(tried.behaviours.find(({ behaviour }) => behaviour === 'training')).toEqual({
    behaviour: 'training',
    byPreset: 'allow',
    action: 'challenge',
  });
  expect(told(tried, 'gptbot')[0]).toBe('challenge');
  expect(told(await show(), 'gptbot')[0]).toBe('block');
  expect((await call(instance.token, '/protect/robots', { botPolicy: { claimed: 'charge' } })).status).toBe(400);
});
