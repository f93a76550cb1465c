/** Lists through the management API: what is read and refused, what stays in force, and what the operator is told. */
import { beforeEach, describe, expect, test } from 'vitest';
import { refreshDueLists } from '../../../src/service/lists/refresh-list.ts';
import { listPublisher, type Publisher } from '../../support/list-publisher.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';
import { newInstance, sendVerdicts } from '../rule-book-instance.ts';
import { ruleBookStub } from '../rule-book-loaded.ts';
import { call, serviceEnv } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';

const outbound = {
  resolverUrl: 'https://cloudflare-dns.com/dns-query',
  standIns: new Map<string, string>(),
  allowsLoopback: false,
};
const given = { name: 'bad', url: 'https://lists.example/bad.txt' };

let publisher: Publisher;
let instance: Awaited<ReturnType<typeof newInstance>>;
const ask = (path: string, body: object = {}) => call(instance.token, `/protect/lists${path}`, body);
const refreshed = async (body: object = {}) => (await ask('/refresh', { name: given.name, ...body })).body;
const only = async () => (await ask('')).body.lists[0];
const decision = async (ip: string): Promise<string> => (await instance.rules('/explain', { ip })).body.decidedBy;
const runDue = (nowMs: number) => refreshDueLists(serviceEnv as never, nowMs, outbound);

async function startAnew(): Promise<void> {
  // The scheduled run takes the lists of everybody.
  await serviceEnv.DB.prepare('DELETE FROM rule_lists').run();
  instance = await newInstance();
  publisher = listPublisher();
}
beforeEach(startAnew);

describe('a subscription', () => {
  test('is monitored until it is enforced, which needs no new reading', async () => {
    expect((await ask('/create', given)).body).toMatchObject({ mode: 'monitor', state: 'new', entries: 0 });
    expect(await refreshed()).toMatchObject({ isRead: true, list: { state: 'good', entries: 1, failures: 0 } });
    expect(await decision('1.2.3.4')).toBe('default');
    expect((await ask('/update', { name: 'bad', mode: 'enforce' })).body).toMatchObject({
      mode: 'enforce',
      entries: 1,
    });
    expect(await decision('1.2.3.4')).toBe('list:bad');
    expect(publisher.requests.length).toBe(1);
  });

  test('is asked for what changed, and unchanged it costs nothing', async () => {
    publisher.answer = (_, headers) =>
      headers.get('if-none-match') === '"one"'
        ? new Response(null, { status: 304 })
        : new Response('1.2.3.4\n', { headers: { etag: '"one"', 'last-modified': 'Sat, 21 Nov 2026 00:00:00 GMT' } });
    await ask('/create', given);
    await refreshed();
    const { list } = await refreshed();
    expect(publisher.requests[1]?.headers.get('if-modified-since')).toBe('Sat, 21 Nov 2026 00:00:00 GMT');
    expect(list).toMatchObject({ state: 'good', entries: 1, report: { lines: 1 } });
    expect((await ruleBookStub(instance.id).lists())[0]?.revision).toBe(1);
  });

  test('is read whole again when its entries are not those of the last reading', async () => {
    publisher.answer = (_, headers) =>
      headers.has('if-none-match')
        ? new Response(null, { status: 304 })
        : new Response('1.2.3.4\n', { headers: { etag: '"one"' } });
    await ask('/create', { ...given, mode: 'enforce' });
    await refreshed();
    await ruleBookStub(instance.id).removeList(given.name, 1);
    expect((await refreshed()).list).toMatchObject({ state: 'good', entries: 1 });
    expect(await decision('1.2.3.4')).toBe('list:bad');
  });

  test('that is deleted, or enforced, while it is read is deleted, or enforced', async () => {
    publisher.answer = async () => {
      await ask('/update', { name: 'bad', mode: 'enforce' });
      return new Response('1.2.3.4\n');
    };
    await ask('/create', given);
    await refreshed();
    expect(await decision('1.2.3.4')).toBe('list:bad');
    publisher.answer = async () => {
      await ask('/delete', { name: 'bad' });
      return new Response('1.2.3.4\n5.6.7.8\n');
    };
    expect((await ask('/refresh', { name: 'bad' })).status).toBe(404);
    expect(await decision('1.2.3.4')).toBe('default');
    expect(await ruleBookStub(instance.id).lists()).toEqual([]);
  });

  test('follows its publisher: what leaves the list is gone, what comes is there', async () => {
    await ask('/create', { ...given, mode: 'enforce', maxChangePercent: 100 });
    await refreshed();
    publisher.answer = () => new Response('5.6.7.0/24\nAS64496\n10.0.0.1\nnonsense\n');
    expect((await refreshed()).list).toMatchObject({
      entries: 2,
      lastChange: { added: 2, removed: 1 },
      report: { lines: 4, notUnderstood: 1, reserved: 1, examples: [{ line: 3 }, { line: 4, text: 'nonsense' }] },
    });
    expect(await decision('1.2.3.4')).toBe('default');
    expect(await decision('5.6.7.8')).toBe('list:bad');
  });

  const lines = (count: number, from = 0) =>
    Array.from({ length: count }, (_, i) => `20.0.${(from + i) >> 8}.${(from + i) & 255}`).join('\n');
  const block = new TextEncoder().encode('# comment of the publisher\n'.repeat(40_000));
  const thirtyMegabytes = () => {
    let sent = 0;
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += block.length;
        if (sent > 30_000_000) controller.close();
        else controller.enqueue(block);
      },
    });
  };
  const broken = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('1.2.3.4\n5.6.7'));
        controller.error(new Error('gone'));
      },
    });

  test('keeps the last good reading when the publisher sends no good list', () =>
    expectRows<[string, () => Response, string]>(
      [
        ['status 500', () => new Response('no', { status: 500 }), 'The publisher answers with status 500'],
        [
          'a web page',
          () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
          'The answer is a web page',
        ],
        ['a web page as text', () => new Response('<!doctype html>\n1.2.3.4'), 'The answer is a web page'],
        ['nothing', () => new Response(''), 'The list has no entries'],
        ['30 MB', () => new Response(thirtyMegabytes()), 'The list is too long'],
        ['half a list', () => new Response(broken()), 'The answer broke off'],
        ['other text', () => new Response('hello\nworld\n'), '2 of 2 lines are no entries'],
        [
          '304 that nobody asked for',
          () => new Response(null, { status: 304 }),
          'The publisher answers with status 304',
        ],
        [
          'a redirect to loopback',
          () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1/bad.txt' } }),
          'The publisher redirects to another host',
        ],
        [
          'a redirect to another host',
          () => new Response(null, { status: 301, headers: { location: 'https://internal.example/' } }),
          'The publisher redirects to another host',
        ],
        [
          'redirects without end',
          () => new Response(null, { status: 302, headers: { location: '/bad.txt' } }),
          'The publisher redirects too often',
        ],
        [
          'a list of which 90 % are others',
          () => new Response(`${lines(10)}\n${lines(90, 5000)}`),
          'The list changed by more than 50 %: 90 entries are new and 90 of 100 would go',
        ],
      ],
      async ([, answer, error]) => {
        await startAnew();
        publisher.answer = () => new Response(lines(100));
        await ask('/create', { ...given, mode: 'enforce' });
        await refreshed();
        publisher.answer = answer;
        expect(await refreshed()).toMatchObject({
          isRead: false,
          list: { state: 'failing', failures: 1, error, entries: 100 },
        });
        expect(await decision('20.0.0.50')).toBe('list:bad');
        publisher.answer = () => new Response(lines(100));
        expect((await refreshed()).list).toMatchObject({ state: 'good', failures: 0, error: null });
      },
    ));

  test('takes a change of any size once it is accepted', async () => {
    publisher.answer = () => new Response(lines(100), { headers: { etag: '"one"' } });
    await ask('/create', { ...given, mode: 'enforce' });
    await refreshed();
    publisher.answer = () => new Response('9.9.9.9\n');
    expect((await refreshed()).isRead).toBe(false);
    expect((await refreshed({ acceptChange: true })).list).toMatchObject({ state: 'good', entries: 1 });
  });

  test.each([
    ['private', '10.0.0.7', 'The host is in a private network'],
    ['loopback', '127.0.0.1', 'The host is in a private network'],
  ])('is not fetched from a host with a %s address', async (_, address, error) => {
    publisher.addresses = () => [address];
    await ask('/create', given);
    expect(await refreshed()).toMatchObject({ isRead: false, list: { state: 'failing', error } });
    expect(publisher.requests).toEqual([]);
  });

  test('is read by the scheduled run when it is due, and not before', async () => {
    await ask('/create', { ...given, intervalMinutes: 5 });
    await runDue(testNow() + 1000);
    expect((await only()).state).toBe('good');
    await runDue(testNow() + 60_000);
    expect(publisher.requests.length).toBe(1);
    await runDue(testNow() + 6 * 60_000);
    expect(publisher.requests.length).toBe(2);
  });

  test('has no effect once it was not read well for as long as it may be, and comes back', async () => {
    await ask('/create', { ...given, mode: 'enforce', expirySeconds: 3600 });
    await refreshed();
    publisher.answer = () => new Response('', { status: 503 });
    await runDue(testNow() + 3_700_000);
    expect(await only()).toMatchObject({ state: 'expired', entries: 0 });
    expect(await decision('1.2.3.4')).toBe('default');
    publisher.answer = () => new Response('1.2.3.4\n');
    expect((await refreshed()).list).toMatchObject({ state: 'good', entries: 1 });
    expect(await decision('1.2.3.4')).toBe('list:bad');
  });

  test('takes exactly its entries with it', async () => {
    await ask('/create', { ...given, mode: 'enforce' });
    await refreshed();
    await instance.rules('/create', { rules: [{ type: 'ip', value: '5.5.5.5', verdict: 'block' }] });
    expect((await ask('/delete', { name: 'bad' })).body).toEqual({ success: true, name: 'bad' });
    expect(await decision('1.2.3.4')).toBe('default');
    expect(await decision('5.5.5.5')).toBe('ip:5.5.5.5');
    expect((await ask('')).body.lists).toEqual([]);
    expect((await ask('/delete', { name: 'bad' })).status).toBe(404);
  });
});

describe('the header of a subscription', () => {
  const authorization = { header: 'X-Api-Key', value: 'very-secret' };

  test('is sent, stored sealed, and shown nowhere', async () => {
    await ask('/create', { ...given, authorization });
    await refreshed();
    expect(publisher.requests[0]?.headers.get('x-api-key')).toBe('very-secret');
    const { entries } = (await call(instance.token, '/audit-trail/get', { limit: 5 })).body;
    const rows = await serviceEnv.DB.prepare('SELECT * FROM rule_lists WHERE instance_id = ?').bind(instance.id).all();
    expect(await only()).toMatchObject({ hasAuthorization: true });
    for (const shown of [await only(), entries, rows.results])
      expect(JSON.stringify(shown)).not.toContain('very-secret');
  });

  test('is not sent to another host than the one it was given for', async () => {
    await ask('/create', { ...given, authorization });
    const other = { name: 'bad', url: 'https://elsewhere.example/bad.txt' };
    await ask('/preview', other);
    expect(publisher.requests[0]?.headers.get('x-api-key')).toBe(null);
    expect((await ask('/update', other)).body.hasAuthorization).toBe(false);
    expect((await ask('/update', { name: 'bad', authorization })).body.hasAuthorization).toBe(true);
  });
});

describe('decisions of CrowdSec', () => {
  const ban = (value: string) => ({ id: 1, origin: 'crowdsec', type: 'ban', scope: 'Ip', value, duration: '4h' });

  test('are read whole at first, and then as changes', async () => {
    publisher.answer = (url) =>
      url.searchParams.get('startup') === 'true'
        ? Response.json({ new: [ban('1.2.3.4'), ban('1.2.3.5'), ban('1.2.3.6')], deleted: null })
        : Response.json({ new: [ban('5.6.7.8')], deleted: [ban('1.2.3.4')] });
    const url = 'https://lapi.example/v1/decisions/stream';
    await ask('/create', { ...given, url, format: 'crowdsec', mode: 'enforce' });
    expect((await refreshed()).list.entries).toBe(3);
    expect((await refreshed()).list).toMatchObject({ entries: 3, lastChange: { added: 1, removed: 1 } });
    expect(publisher.requests.map((request) => request.url)).toEqual([
      `${url}?startup=true&scopes=ip%2Crange%2Cas%2Ccountry`,
      `${url}?startup=false&scopes=ip%2Crange%2Cas%2Ccountry`,
    ]);
    expect(await decision('1.2.3.4')).toBe('default');
    expect(await decision('5.6.7.8')).toBe('list:bad');
    publisher.answer = () => new Response('forbidden', { status: 403 });
    await refreshed();
    publisher.answer = () => Response.json({ new: [ban('5.6.7.8')], deleted: [] });
    expect((await refreshed({ acceptChange: true })).list.entries).toBe(1);
    expect(publisher.requests.at(-1)?.url).toBe(`${url}?startup=true&scopes=ip%2Crange%2Cas%2Ccountry`);
  });
});

describe('a file', () => {
  const file = { name: 'own' };

  test('is replaced as a whole', async () => {
    await ask('/create', { ...file, verdict: 'challenge', mode: 'enforce' });
    expect((await ask('/replace', { ...file, content: '1.2.3.4\n5.6.7.8\n9.9.9.9\n' })).body).toMatchObject({
      entries: 3,
      nextAt: null,
      state: 'good',
    });
    expect((await ask('/replace', { ...file, content: '1.2.3.4\n9.9.9.9\n8.8.8.8 # new\n' })).body).toMatchObject({
      entries: 3,
      lastChange: { added: 1, removed: 1 },
    });
    expect(await decision('5.6.7.8')).toBe('default');
    expect(await decision('8.8.8.8')).toBe('list:own');
  });

  test('that is none changes nothing, and so does one that changes too much', async () => {
    await ask('/create', { ...file, mode: 'enforce' });
    const twelve = Array.from({ length: 12 }, (_, i) => `1.2.3.${i}\n`).join('');
    await ask('/replace', { ...file, content: twelve });
    expect((await ask('/replace', { ...file, content: '<html>' })).status).toBe(400);
    const refused = await ask('/replace', { ...file, content: '9.9.9.9\n' });
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'The list changed by more than 50 %: 1 entries are new and 12 of 12 would go',
    ]);
    expect(await only()).toMatchObject({ state: 'good', entries: 12 });
    expect((await ask('/replace', { ...file, content: '9.9.9.9\n', acceptChange: true })).body.entries).toBe(1);
  });

  test('is not fetched, and a subscription is not replaced', async () => {
    await ask('/create', file);
    await ask('/create', given);
    expect((await ask('/refresh', file)).status).toBe(409);
    expect((await ask('/replace', { name: 'bad', content: '1.2.3.4' })).status).toBe(409);
    expect((await ask('/replace', { name: 'nobody', content: '1.2.3.4' })).status).toBe(404);
  });
});

test('a preview says which logged requests an enforced list would have decided otherwise', async () => {
  await instance.rules('/create', { rules: [{ type: 'ipMask', value: '7.7.8.0/24', verdict: 'allow' }] });
  const allowed = [{ id: 'ipMask:7.7.8.0/24', verdict: 'allow' as const, mode: 'enforce' as const }];
  const records = [
    { ip: '7.7.7.7' },
    { ip: '7.7.7.8' },
    { ip: '7.7.8.8', fired_rules: allowed },
    { ip: '1.1.1.1' },
  ].map((one, at) => verdictRecordOf(instance.id, { timestamp: testNow() - 60_000 + at, ...one }));
  expect((await sendVerdicts(instance.jwt, crypto.randomUUID(), records)).status).toBe(200);
  const { body } = await ask('/preview', { name: 'new', content: '7.7.0.0/16\n7.7.8.0/24\n' });
  expect(body).toMatchObject({ examined: 4, inWindow: 4, complete: true, changed: 2 });
  expect(body.changes).toEqual([{ from: 'allow', to: 'block', requests: 2, addresses: 2 }]);
  expect(body.samples[0]).toMatchObject({ ip: '7.7.7.8', decidedBy: 'list:new' });
});

test('a preview reads, compares and stores nothing', async () => {
  await ask('/create', { ...given, mode: 'enforce' });
  await refreshed();
  publisher.answer = () => new Response('1.2.3.4\n7.7.7.0/24\nAS64496\n');
  const preview = (await ask('/preview', { name: 'bad' })).body;
  expect(preview).toMatchObject({ entries: 3, present: 1, added: 2, removed: 0, changed: 0, complete: true });
  expect(preview.examples).toEqual(['1.2.3.4/32', '7.7.7.0/24', 'AS64496']);
  expect(await only()).toMatchObject({ entries: 1 });
  const ofFile = await ask('/preview', { name: 'new', content: 'ip\n1.2.3.4\n', format: 'csv', column: 'ip' });
  expect(ofFile.body).toMatchObject({ entries: 1, present: 0, added: 1 });
  publisher.answer = () => new Response('', { status: 500 });
  expect((await ask('/preview', { name: 'bad' })).status).toBe(400);
});

test('a mistake is refused with its field, and nothing is created', () =>
  expectRows<[string, object, string]>(
    [
      ['an address without https', { url: 'http://lists.example/' }, 'url'],
      ['an address in a private network', { url: 'https://10.0.0.1/' }, 'url'],
      ['a server of the same machine', { url: 'http://127.0.0.1:9000/' }, 'url'],
      ['a server of the same machine with https', { url: 'https://localhost/' }, 'url'],
      ['an address with a password', { url: 'https://user:pw@lists.example/' }, 'url'],
      ['a name with other characters', { name: 'Bad List' }, 'name'],
      ['an interval under five minutes', { intervalMinutes: 4 }, 'intervalMinutes'],
      ['csv without its column', { format: 'csv' }, 'column'],
      ['a column without csv', { column: 'ip' }, 'column'],
      ['a selector that is none', { format: 'json', selector: 'a..b' }, 'selector'],
      ['a header that cannot be set', { authorization: { header: 'Host', value: 'x' } }, 'authorization.header'],
      ['a header with a line end', { authorization: { header: 'X-Key', value: 'a\nb' } }, 'authorization.value'],
      ['a change of no share', { maxChangePercent: 0 }, 'maxChangePercent'],
    ],
    async ([, change, path]) => {
      const refused = await ask('/create', { ...given, ...change });
      expect([refused.status, refused.body.error.details[0].path]).toEqual([400, path]);
      expect((await ask('')).body.lists).toEqual([]);
    },
  ));

test('a name is given once, and an instance has at most 50 lists', async () => {
  await ask('/create', given);
  expect((await ask('/create', given)).status).toBe(409);
  for (let i = 1; i < 50; i += 1)
    await ruleBookStub(instance.id).putList({ name: `l${i}`, verdict: 'block', mode: 'monitor' }, 1);
  expect((await ask('/create', { name: 'one-more' })).status).toBe(413);
  expect((await ask('')).body.lists.length).toBe(1);
});
