/** Policies over the management API: reading and changing them, versions, the check of a condition, and imports. */
import { beforeEach, describe, expect, test } from 'vitest';
import { expectRows } from '../support/rows.ts';
import { call } from './service/service-under-test.ts';
import { newInstance } from './rule-book-instance.ts';

let instance: Awaited<ReturnType<typeof newInstance>>;
const ask = (operation: string, body: object = {}) => call(instance.token, `/protect/policies${operation}`, body);
const namesOf = async (version?: number) =>
  (await ask('', { version })).body.policies.map(({ name }: { name: string }) => name);
const policy = (name: string, when: unknown = `path equals "/${name}"`) => ({ name, when, then: { action: 'block' } });

beforeEach(async () => {
  instance = await newInstance();
});

describe('the policies of an instance', () => {
  test('are none at first, and come back in both forms as they were set', async () => {
    expect((await ask('')).body).toEqual({ version: 0, policies: [], limits: [], origins: {} });
    const when = {
      or: [
        { field: 'header', name: 'X-Test', operator: 'exists' },
        { not: { field: 'country', operator: 'equals', value: 'DE' } },
      ],
    };
    const limit = { name: 'logins', key: ['ip'], count: 5, windowSeconds: 60 };
    const { status, body } = await ask('/set', {
      policies: [
        policy('a'),
        { ...policy('b', when), then: { action: 'limit', limit: 'logins' }, mode: 'monitor', description: 'x' },
      ],
      limits: [limit],
      note: 'first',
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ version: 1, changed: true, dryRun: false });
    const { policies, limits, version } = (await ask('')).body;
    expect([version, limits]).toEqual([
      1,
      [expect.objectContaining({ ...limit, algorithm: 'sliding', on: 'request' })],
    ]);
    expect(policies[0]).toEqual({
      name: 'a',
      when: { field: 'path', operator: 'equals', value: '/a' },
      text: 'path equals "/a"',
      then: { action: 'block' },
      mode: 'enforce',
    });
    expect(policies[1]).toMatchObject({ text: 'header["x-test"] exists or not country equals "DE"', description: 'x' });
  });

  test('are added, updated, moved and removed one by one', async () => {
    await ask('/add', { policy: policy('a') });
    await ask('/add', { policy: policy('b') });
    await ask('/add', { policy: policy('c'), before: 'a' });
    expect(await namesOf()).toEqual(['c', 'a', 'b']);
    const moved = await ask('/move', { name: 'c' });
    expect(moved.body.differences.policies).toMatchObject([
      { change: 'moved', name: 'c', placeBefore: 1, placeAfter: 3 },
    ]);
    await ask('/move', { name: 'b', before: 'a' });
    expect(await namesOf()).toEqual(['b', 'a', 'c']);
    await ask('/update', { name: 'a', policy: policy('renamed', 'path equals "/x"') });
    await ask('/remove', { name: 'c' });
    expect(await namesOf()).toEqual(['b', 'renamed']);
    expect((await ask('/move', { name: 'b', before: 'b' })).body).toMatchObject({ changed: false, version: 7 });
    for (const [operation, body] of [
      ['/remove', { name: 'none' }],
      ['/move', { name: 'b', before: 'none' }],
      ['/update', { name: 'none', policy: policy('x') }],
      ['/add', { policy: policy('x'), before: 'none' }],
    ] as const) {
      const { status, body: refused } = await ask(operation, body);
      expect([status, refused.error.message]).toEqual([404, 'There is no policy named "none"']);
    }
    expect((await ask('')).body.version).toBe(7);
  });

  test('are replaced on the version that the writer has read, or not at all', async () => {
    await ask('/set', { policies: [policy('a')] });
    const stale = await ask('/set', { policies: [policy('b')], ifVersion: 0 });
    expect([stale.status, stale.body.error.details[0].message]).toEqual([409, 'is 0, and the current version is 1']);
    expect((await ask('/set', { policies: [policy('b')], ifVersion: 1 })).body.version).toBe(2);
    expect((await ask('/set', { policies: [policy('b')] })).body).toMatchObject({ version: 2, changed: false });
    expect((await ask('/set', { policies: [], dryRun: true })).body).toMatchObject({
      version: 2,
      changed: true,
      dryRun: true,
    });
    expect(await namesOf()).toEqual(['b']);
  });

  test('keep every change of parallel writers', async () => {
    const added = await Promise.all(
      Array.from({ length: 6 }, (_, index) => ask('/add', { policy: policy(`p${index}`) })),
    );
    expect(added.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    expect((await namesOf()).toSorted()).toEqual(['p0', 'p1', 'p2', 'p3', 'p4', 'p5']);
  });

  test('are refused with a mistake, and say where', () =>
    expectRows(
      [
        [
          'a text with an error',
          policy('a', 'path\n  startWith "/a"'),
          'policies[0].when',
          'line 2, column 3: expected one of',
        ],
        [
          'a tree with an error',
          policy('a', { and: [{ field: 'path', operator: 'equals', value: 7 }] }),
          'policies[0].when.and[0].value',
          'must be a text',
        ],
        [
          'no address',
          policy('a', { field: 'ip', operator: 'ipIn', value: ['x'] }),
          'policies[0].when.value[0]',
          'must be a network',
        ],
        ['an unknown field', { ...policy('a'), extra: 1 }, 'policies[0].extra', 'is not a known field'],
        [
          'an unknown limit',
          { ...policy('a'), then: { action: 'limit', limit: 'x' } },
          'policies[0].then.limit',
          'must name a limit',
        ],
        ['a name of the gate', policy('hosts'), 'policies[0].name', 'is the name of a policy of the gate'],
        ['no object', 7, 'policies[0]', 'expected object'],
        [
          'a deep tree',
          policy('a', JSON.parse(`${'{"not":'.repeat(60)}{}${'}'.repeat(60)}`)),
          'policies[0].when.not',
          'nested deeper than 32',
        ],
        [
          'a redirect to elsewhere',
          { ...policy('a'), then: { action: 'redirect', location: '//evil.example' } },
          'policies[0].then.location',
          'path of the same site',
        ],
      ],
      async ([, bad, path, message]) => {
        await ask('/set', { policies: [policy('kept')] });
        const { status, body } = await ask('/set', { policies: [bad] });
        expect([status, body.error.details[0].path]).toEqual([400, expect.stringContaining(path)]);
        expect(body.error.details[0].message).toContain(message);
        expect(await namesOf()).toEqual(['kept']);
      },
      ([name]) => name,
    ));

  test('are refused one by one with the field of the policy', async () => {
    await ask('/set', { policies: [policy('a'), policy('b')] });
    const details = async (operation: string, body: object) => (await ask(operation, body)).body.error.details[0];
    const bad = policy('c', 'path');
    expect(await details('/add', { policy: bad, before: 'b' })).toMatchObject({ path: 'policy.when' });
    expect(await details('/update', { name: 'b', policy: policy('a') })).toEqual({
      path: 'policy.name',
      message: 'must be unique among the policies',
    });
  });

  test('take a tree as deep as any that is allowed, and no body that is deeper', async () => {
    const leaf = { field: 'path', operator: 'in', value: ['/a', '/b'] };
    const one = { field: 'method', operator: 'equals', value: 'GET' };
    let when: object = leaf;
    for (let level = 1; level < 32; level++) when = level % 2 === 1 ? { and: [one, when] } : { or: [one, when] };
    expect((await ask('/set', { policies: [policy('deep', when)] })).status).toBe(200);
    expect((await ask('')).body.policies[0].when).toEqual(when);
    const body = await ask('/set', { policies: [policy('a', JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`))] });
    expect([body.status, body.body.error.message]).toEqual([400, 'The body nests deeper than 80 levels']);
  });

  test('are of one account only', async () => {
    await ask('/set', { policies: [policy('mine')] });
    const other = await newInstance();
    const stolen = await call(other.token, '/protect/policies', { siteKey: instance.siteKey });
    expect(stolen.status).toBe(404);
    const written = await call(other.token, '/protect/policies/set', { siteKey: instance.siteKey, policies: [] });
    expect(written.status).toBe(404);
    expect(await namesOf()).toEqual(['mine']);
  });
});

describe('versions', () => {
  test('are listed with who made them and why, compared, read and restored', async () => {
    await ask('/set', { policies: [policy('a')], note: 'one' });
    await ask('/set', { policies: [policy('a', 'path equals "/b"'), policy('c')] });
    const { body: restored } = await ask('/rollback', { version: 1, note: 'back' });
    expect(restored).toMatchObject({ version: 3, changed: true });
    const { body: history } = await ask('/history', { limit: 2 });
    expect(history.version).toBe(3);
    const made = { at: expect.any(String), by: expect.any(String), byName: expect.any(String) };
    expect(history.versions).toEqual([
      { ...made, version: 3, note: 'back', policies: 1, limits: 0, restores: 1 },
      {
        ...made,
        version: 2,
        note: null,
        policies: 2,
        limits: 0,
        restores: null,
      },
    ]);
    expect((await ask('/history', { before: 2 })).body.versions).toMatchObject([{ version: 1, note: 'one' }]);
    const { body: diff } = await ask('/diff', { from: 2 });
    expect([diff.from, diff.to]).toEqual([2, 3]);
    expect(diff.differences.policies).toMatchObject([
      { change: 'changed', name: 'a', before: { when: { value: '/b' } }, after: { when: { value: '/a' } } },
      { change: 'removed', name: 'c', after: null },
    ]);
    expect(await namesOf(2)).toEqual(['a', 'c']);
    expect(await namesOf(0)).toEqual([]);
    for (const [operation, body] of [
      ['', { version: 4 }],
      ['/diff', { from: 1, to: 9 }],
      ['/rollback', { version: 9 }],
    ] as const) {
      expect((await ask(operation, body)).status).toBe(404);
    }
  });
});

describe('the check of a condition', () => {
  test('returns both forms of a text and of a tree', async () => {
    const text = 'path startsWith "/api" and not cookie["sid"] exists';
    const { body } = await ask('/check', { when: text });
    expect(body).toMatchObject({ ok: true, text, error: null });
    expect((await ask('/check', { when: body.when })).body).toEqual(body);
  });

  test('says where the error is', async () => {
    const { body } = await ask('/check', { when: 'path startsWith /api' });
    expect(body).toMatchObject({ ok: false, when: null, error: { offset: 16, line: 1, column: 17, path: null } });
    const tree = await ask('/check', { when: { and: [{ field: 'nothing' }] } });
    expect(tree.body.error).toMatchObject({ offset: null, path: 'and.0.field' });
  });

  test('refuses what is no condition', () =>
    expectRows([null, 7, [], '"', '('.repeat(100_000), { and: [] }], async (when) => {
      const { status, body } = await ask('/check', { when });
      expect([status, body.ok]).toEqual([200, false]);
    }));
});

describe('an import', () => {
  const content = 'http.host eq "a.example"\ncf.threat_score gt 10\nhttp.user_agent contains "Bot"\n';

  test('reports on each rule and changes nothing', async () => {
    const { status, body } = await ask('/import', { format: 'cloudflare', content });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      version: 0,
      changed: true,
      dryRun: true,
      taken: 1,
      takenWithADifference: 1,
      notExpressible: 1,
    });
    expect(body.rules[0].policy).toMatchObject({
      name: 'line-1',
      text: 'host equals "a.example"',
      mode: 'monitor',
      then: { action: 'challenge' },
    });
    expect((await ask('')).body.version).toBe(0);
  });

  test('puts what it could take behind, before or in place of the present policies', async () => {
    await ask('/set', { policies: [policy('line-1')] });
    const apply = {
      format: 'cloudflare',
      content: 'http.host eq "a.example"',
      apply: true,
      mode: 'enforce',
      action: 'block',
    };
    expect((await ask('/import', apply)).body).toMatchObject({ version: 2, dryRun: false });
    expect(await namesOf()).toEqual(['line-1', 'line-1-2']);
    await ask('/import', { ...apply, place: 'start' });
    expect(await namesOf()).toEqual(['line-1-3', 'line-1', 'line-1-2']);
    await ask('/import', {
      ...apply,
      place: 'replace',
      format: 'anubis',
      content: 'bots: [{name: A, path_regex: ^/x$, action: DENY}]',
    });
    expect((await ask('')).body.policies).toMatchObject([{ name: 'a', text: 'path equals "/x"', mode: 'enforce' }]);
  });

  test('of a file without rules is refused', async () => {
    const { status, body } = await ask('/import', { format: 'anubis', content: '<html>' });
    expect([status, body.error.details[0]]).toEqual([
      400,
      { path: 'content', message: 'has no list of rules under "bots"' },
    ]);
  });
});
