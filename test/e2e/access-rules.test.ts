/**
 * Access rules from the management API to the running edge: a written rule is enforced without a restart, and a
 * refused batch changes nothing. How soon a rule is enforced is measured by `npm run bench -- rule-book`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { gatehouse } from '../support/gatehouse.ts';
import { expectRows } from '../support/rows.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const JA4 = 't13d1516h2_8daaf6152771_02713d6af862';

const stack = useStack();

interface Visitor {
  ip?: string;
  asn?: string;
  country?: string;
  ja4?: string;
  userAgent?: string;
}

async function visit(visitor: Visitor): Promise<string> {
  const { edgeUrl, signalsSecret } = stack();
  const headers: Record<string, string> = {
    'x-signals-secret': signalsSecret,
    'x-client-ip': visitor.ip ?? '203.0.113.200',
    ...(visitor.userAgent === undefined ? {} : { 'user-agent': visitor.userAgent }),
  };
  if (visitor.asn !== undefined) headers['x-client-asn'] = visitor.asn;
  if (visitor.country !== undefined) headers['x-client-country'] = visitor.country;
  if (visitor.ja4 !== undefined) headers['x-client-ja4'] = visitor.ja4;
  const response = await browse(`${edgeUrl}/robots.txt`, { headers });
  await response.arrayBuffer();
  return response.headers.get('x-protect-decision') ?? `status ${response.status}`;
}

async function enforced(visitor: Visitor, decision: string): Promise<void> {
  await eventually(
    () => visit(visitor),
    (seen) => seen === decision,
  );
}

const create = (rules: object[]) => manage<{ version: number }>(stack(), '/protect/access-rules/create', { rules });
const remove = (conditions: object[]) => manage(stack(), '/protect/access-rules/delete', { conditions });

describe('a new rule', () => {
  test('of each of the six types is enforced, and deleting it ends that', async () => {
    const cases: [{ type: string; value: string | number }, Visitor][] = [
      [{ type: 'ip', value: '198.51.100.1' }, { ip: '198.51.100.1' }],
      [{ type: 'ipMask', value: '2001:db8:1::/48' }, { ip: '2001:db8:1:2::3' }],
      [{ type: 'asn', value: 64511 }, { asn: '64511' }],
      [{ type: 'countryCode', value: 'aq' }, { country: 'AQ' }],
      [{ type: 'ja4Hash', value: JA4 }, { ja4: JA4 }],
      [{ type: 'userAgent', value: 'VeryBadBot' }, { userAgent: 'Mozilla/5.0 (compatible; verybadbot/1.0)' }],
    ];
    for (const [, visitor] of cases) expect(await visit(visitor)).toBe('allow');
    await create(cases.map(([rule]) => ({ ...rule, verdict: 'block' })));
    await Promise.all(cases.map(([, visitor]) => enforced(visitor, 'block')));
    await remove(cases.map(([rule]) => rule));
    await Promise.all(cases.map(([, visitor]) => enforced(visitor, 'allow')));
  });

  test('with a more specific prefix wins over a wider one, in either order of creation', async () => {
    const inside = { ip: '192.0.2.77' };
    const beside = { ip: '192.0.2.78' };
    await create([{ type: 'ip', value: '192.0.2.77', verdict: 'allow' }]);
    await create([{ type: 'ipMask', value: '192.0.2.0/24', verdict: 'block' }]);
    await enforced(beside, 'block');
    expect(await visit(inside)).toBe('allow');
  });
});

test('a refused batch changes nothing at the edge or in the list', async () => {
  const list = () => manage(stack(), '/protect/access-rules', { limit: 10 });
  const before = await list();
  const response = await fetch(`${stack().serviceUrl}/protect/access-rules/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack().apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      rules: [
        { type: 'ip', value: '198.51.100.99', verdict: 'block' },
        { type: 'ip', value: '198.51.100.999', verdict: 'block' },
      ],
    }),
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { key: 'API.INVALID_RULES', details: [{ index: 1 }] } });
  expect(await list()).toEqual(before);
  expect(await visit({ ip: '198.51.100.99' })).toBe('allow');
});

test('a rule in monitor mode appears in explain and decides nothing', async () => {
  await create([{ type: 'ip', value: '198.51.100.50', verdict: 'block', mode: 'monitor' }]);
  const explained = await manage<{ decision: string; firedRules: object[] }>(stack(), '/protect/access-rules/explain', {
    ip: '198.51.100.50',
  });
  expect(explained).toMatchObject({ decision: 'allow', firedRules: [{ id: 'ip:198.51.100.50', mode: 'monitor' }] });
  expect(await visit({ ip: '198.51.100.50' })).toBe('allow');
});

test('gatehouse lists replaces a file, enforces it at the edge, and takes exactly its entries away', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-lists-'));
  const file = join(dir, 'list.txt');
  const lists = async (...args: string[]) => {
    const { exitCode, output, errors } = await gatehouse(['lists', ...args], { state: stack().stateDir });
    return exitCode === 0 ? JSON.parse(output) : errors;
  };
  try {
    await create([{ type: 'ipMask', value: '20.1.2.0/24', verdict: 'allow' }]);
    writeFileSync(file, '# mine\n20.1.0.0/16\n20.1.2.0/24\n20.9.9.9\n');
    await lists('add', 'mine');
    expect(await lists('replace', 'mine', file)).toMatchObject({ entries: 3, mode: 'monitor', report: { lines: 3 } });
    expect(await lists('enforce', 'mine')).toMatchObject({ mode: 'enforce', entries: 3 });
    await enforced({ ip: '20.1.3.4' }, 'block');
    await enforced({ ip: '20.9.9.9' }, 'block');
    await enforced({ ip: '20.1.2.3' }, 'allow');
    writeFileSync(file, '20.1.0.0/16\n20.1.2.0/24\n');
    expect(await lists('replace', 'mine', file)).toMatchObject({ entries: 2 });
    await enforced({ ip: '20.9.9.9' }, 'allow');
    expect(await lists('show', 'mine')).toMatchObject({ lastChange: { added: 0, removed: 1 } });
    writeFileSync(file, '<html>');
    expect(await lists('replace', 'mine', file)).toMatch(/status 400.*The answer is a web page/s);
    await lists('remove', 'mine');
    await enforced({ ip: '20.1.3.4' }, 'allow');
    expect(await lists('show', 'mine')).toBe('The instance has no list with the name mine.');
    expect(await lists('replace', 'mine', file)).toMatch(/status 404/);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

describe('gatehouse rules', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gatehouse-rules-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test('an import that finds no rule in a file is one summary and exit code 1', async () => {
    const list = join(dir, 'no-verdict.txt');
    writeFileSync(list, '192.0.2.1\n192.0.2.2\n192.0.2.3\n');
    const table = join(dir, 'other-columns.csv');
    writeFileSync(table, 'name,colour,size\na,red,1\nb,blue,2\n');
    for (const args of [[list, '--format', 'list'], [table]]) {
      const { exitCode, errors } = await gatehouse(['rules', 'import', ...args], { state: stack().stateDir });
      expect([exitCode, errors]).toEqual([
        1,
        expect.stringMatching(/^No rule was imported: all \d lines were skipped\.\n  \d × .*\(line \d/),
      ]);
    }
  });

  test('an import of a file without rules says that it has none, and changes nothing', () =>
    expectRows(
      [
        ['empty', ''],
        ['of blank lines', '\n\n  \n'],
        ['of comments', '; a published list\n# of nothing\n'],
        ['of a heading alone', 'type,value,verdict\n'],
      ],
      async ([, content]) => {
        const file = join(dir, 'empty.csv');
        writeFileSync(file, content);
        const before = (await manage(stack(), '/protect/access-rules', {})) as { total: number; version: number };
        const { exitCode, errors } = await gatehouse(['rules', 'import', file], { state: stack().stateDir });
        expect([exitCode, errors]).toEqual([1, `No rules in ${file}. Nothing was changed.`]);
        const { total, version } = (await manage(stack(), '/protect/access-rules', {})) as typeof before;
        expect([total, version]).toEqual([before.total, before.version]);
      },
    ));

  test('a dry run says what an import would do, and changes nothing', async () => {
    const file = join(dir, 'monitored.txt');
    writeFileSync(file, '172.15.0.1\n172.15.0.2\nnonsense\n');
    const args = [
      'rules',
      'import',
      file,
      '--verdict',
      'block',
      '--mode',
      'monitor',
      '--expiry',
      '2d',
      '--note',
      'try',
    ];
    const before = await manage<{ version: number }>(stack(), '/protect/access-rules', { limit: 1 });
    const planned = JSON.parse((await gatehouse([...args, '--dry-run'], { state: stack().stateDir })).output);
    expect(planned).toEqual({ created: 2, updated: 0, unchanged: 0, skipped: 1, lines: 3 });
    const after = await manage<{ version: number }>(stack(), '/protect/access-rules', { limit: 1 });
    expect(after.version).toBe(before.version);
    const made = JSON.parse((await gatehouse(args, { state: stack().stateDir })).output);
    expect(made).toMatchObject({ created: 2, skipped: 1 });
    const listed = await manage<{ rules: object[] }>(stack(), '/protect/access-rules', { valuePrefix: '172.15.' });
    expect(listed.rules).toMatchObject([{ mode: 'monitor', note: 'try', expired: false }, { mode: 'monitor' }]);
  });

  test('imports a list longer than one call takes, reports bad lines, and changes nothing the second time', async () => {
    const file = join(dir, 'drop.txt');
    const lines = Array.from(
      { length: 25_000 },
      (_, i) => `172.${16 + (i >> 12)}.${(i >> 4) & 255}.${(i & 15) * 16}/28`,
    );
    lines[12_345] = '172.16.0.1/33 ; not a prefix';
    writeFileSync(file, `; a published list\n\n${lines.join('\n')}\n`);
    const args = ['rules', 'import', file, '--verdict', 'block'];
    const first = JSON.parse((await gatehouse(args, { state: stack().stateDir })).output);
    expect(first).toMatchObject({ created: 24_999, skipped: 1, lines: 25_002 });
    await enforced({ ip: '172.20.1.1' }, 'block');
    const again = JSON.parse((await gatehouse(args, { state: stack().stateDir })).output);
    expect(again).toMatchObject({ created: 0, updated: 0, unchanged: 24_999, version: first.version });
    const back = await gatehouse(['rules', 'rollback', String(first.version - 3)], { state: stack().stateDir });
    expect(JSON.parse(back.output)).toMatchObject({ deleted: 24_999 });
    await enforced({ ip: '172.20.1.1' }, 'allow');
  });

  test('takes an import back that the service refuses in the middle', async () => {
    const file = join(dir, 'too-large.csv');
    const addresses = Array.from({ length: 10_500 }, (_, i) => `ip,10.77.${i >> 8}.${i & 255},block`);
    // Far more states than rules may need.
    const agents = Array.from({ length: 6000 }, (_, i) => {
      const part = `${String.fromCharCode(0x4e00 + i)}${String.fromCharCode(0x9fa5 - i)}`;
      return `userAgent,${part.repeat(60)},block`;
    });
    writeFileSync(file, [...addresses, ...agents].join('\n'));
    const before = (await manage(stack(), '/protect/access-rules', {})) as { total: number };
    const { exitCode, errors } = await gatehouse(['rules', 'import', file], { state: stack().stateDir });
    expect([exitCode, errors]).toEqual([
      1,
      expect.stringMatching(/^Nothing was imported; lines 1 to 10000 were taken back\. .*413.*states/s),
    ]);
    expect(await manage(stack(), '/protect/access-rules', {})).toMatchObject({ total: before.total });
    await enforced({ ip: '10.77.1.1' }, 'allow');
  });

  test('exports to a file that imports as unchanged', async () => {
    const file = join(dir, 'rules.csv');
    await create([{ type: 'userAgent', value: 'quoted, "bot"', verdict: 'challenge', note: 'two\nlines' }]);
    expect(
      (await gatehouse(['rules', 'export', '--format', 'csv', '--out', file], { state: stack().stateDir })).exitCode,
    ).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('"quoted, ""bot"""');
    const again = JSON.parse((await gatehouse(['rules', 'import', file], { state: stack().stateDir })).output);
    expect(again).toMatchObject({ created: 0, updated: 0, skipped: 0 });
  });

  test('fails with one line when no stack runs', async () => {
    expect(await gatehouse(['rules', 'history'], { state: join(dir, 'nothing') })).toMatchObject({ exitCode: 1 });
  });
});

test('one changed rule among 100,000 is enforced without shipping the base again', async () => {
  const { serviceUrl, clientJwt } = stack();
  const version = async () => {
    const response = await fetch(`${serviceUrl}/edge/v1/version`, {
      headers: { authorization: `Bearer ${clientJwt}` },
    });
    return (await response.json()) as { base: { hash: string; version: number }; delta: { version: number } };
  };
  for (let batch = 0; batch < 10; batch += 1) {
    const values = Array.from({ length: 10_000 }, (_, i) => `10.${batch}.${i >> 8}.${i & 255}`);
    await create(values.map((value) => ({ type: 'ip', value, verdict: 'block' })));
  }
  await enforced({ ip: '10.9.0.1' }, 'block');
  let verdict = 'block';
  // These batches make a compile due, and it may run during a change.
  await eventually(
    async () => {
      const before = await version();
      verdict = verdict === 'block' ? 'allow' : 'block';
      await create([{ type: 'ip', value: '10.9.0.1', verdict }]);
      await enforced({ ip: '10.9.0.1' }, verdict);
      return { before, after: await version() };
    },
    ({ before, after }) => after.base.hash === before.base.hash && after.delta.version === before.delta.version + 1,
  );
});
