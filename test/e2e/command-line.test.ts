// A stack of its own: its service reads lists of hosts that this file stands in for.
/** The commands that read traffic, on a running stack: the log in pages and as a whole, live, counted, and tried rules. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { newEventId } from '../../src/logsink/event-id.ts';
import { exampleExitCodes, runExamples } from '../support/command-examples.ts';
import { startExampleHosts } from '../support/example-hosts.ts';
import { checkCliPage } from '../../scripts/checks/cli-page.ts';
import { shownLines } from '../../scripts/cli-sections.ts';
import { gatehouse, type RunSettings } from '../support/gatehouse.ts';
import { expectRows } from '../support/rows.ts';
import { eventually, manage, useOwnStack } from '../support/stack.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { stackNow } from '../support/clock.ts';

const hosts = await startExampleHosts();
afterAll(() => hosts.close());
const stack = useOwnStack({ serviceVars: hosts.serviceVars });
const dir = mkdtempSync(join(tmpdir(), 'gatehouse-cli-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const run = (words: string, settings: RunSettings = {}) =>
  gatehouse(words.split(' '), { state: stack().stateDir, ...settings });

type Facts = Partial<VerdictRecord>;

function record(facts: Facts): VerdictRecord {
  const timestamp = facts.timestamp ?? stackNow();
  const own = { site_key: stack().siteKey, request_id: newEventId(timestamp) };
  return verdictRecordOf(stack().instanceId, { ...own, ...facts, timestamp });
}

/** As an edge sends them. */
async function log(records: readonly VerdictRecord[]): Promise<void> {
  const { serviceUrl, clientJwt } = stack();
  const response = await fetch(`${serviceUrl}/edge/v1/verdicts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${clientJwt}`, 'content-type': 'application/json' },
    body: JSON.stringify({ records }),
  });
  expect(await response.json()).toMatchObject({ accepted: records.length });
}

async function arrived(path: string, count: number): Promise<void> {
  await eventually(
    () => manage<{ total: number }>(stack(), '/protect/verdicts', { requestPath: path, limit: 1 }),
    ({ total }) => total === count,
  );
}

describe('gatehouse verdicts', () => {
  const at = stackNow() - 600_000;
  beforeAll(async () => {
    const blocked: Facts = { decision: 'block', request_path: '/filtered/a', ip: '198.51.100.7', asn: 64_500 };
    await log([
      record({ ...blocked, timestamp: at, jti: 'ses_one', decided_by: 'userAgent:badbot' }),
      record({ ...blocked, timestamp: at + 1000, request_path: '/filtered/b' }),
      record({ timestamp: at + 2000, request_path: '/filtered/b', decision: 'challenge' }),
      record({ timestamp: at + 3000, request_path: '/filtered/\u202Etxt.exe', user_agent: '\u001B[2J' }),
    ]);
    await arrived('/filtered/*', 4);
  });

  test('finds the verdicts that its flags ask for', () =>
    expectRows(
      [
        ['--path /filtered/*', 4],
        ['--path /filtered/b', 2],
        ['--path /filtered/* --decision block', 2],
        ['--path /filtered/* --decision block,challenge', 3],
        ['--path /filtered/* --ip 198.51.100.7', 2],
        ['--path /filtered/* --ip 198.51.100.7 --decision challenge', 0],
        ['--path /filtered/* --session ses_one', 1],
        ['--path /filtered/* --asn AS64500', 2],
        ['--path /filtered/* --since 11m', 4],
        ['--path /filtered/* --since 5m', 0],
        [`--path /filtered/* --since 1h --until ${new Date(at + 1000).toISOString()}`, 1],
      ],
      async ([flags, count]) => {
        const { output, errors } = await run(`verdicts ${flags}`);
        expect(errors).toBe('');
        expect(JSON.parse(output)).toMatchObject({ total: count });
        expect(JSON.parse(output).verdicts).toHaveLength(count);
      },
    ));

  test('is a table on a terminal, which fits it and which no visitor controls', async () => {
    for (const columns of [80, 120, 200]) {
      const { output } = await run('verdicts --path /filtered/*', { columns, env: { NO_COLOR: '1' } });
      const lines = output.split('\n');
      expect(lines[0]).toMatch(/^TIME \(UTC\) +DECISION .*REQUEST +.*REFERENCE$/);
      expect(lines.at(-1)).toBe('4 of 4 verdicts.');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
      expect(output).not.toMatch(/[^\P{C}\n]/u);
    }
  });

  test('pages with a cursor, each verdict once', async () => {
    const first = JSON.parse((await run('verdicts --path /filtered/* --limit 3')).output);
    const rest = await run(`verdicts --path /filtered/* --limit 3 --cursor ${first.nextCursor}`);
    const ids = [...first.verdicts, ...JSON.parse(rest.output).verdicts].map(({ id }: VerdictRecord) => id);
    expect([ids.length, new Set(ids).size]).toEqual([4, 4]);
  });

  test('--all writes a log of several pages, one JSON object a line', async () => {
    await log(Array.from({ length: 500 }, (_, index) => record({ timestamp: at + index, request_path: '/many' })));
    await log(Array.from({ length: 500 }, (_, index) => record({ timestamp: at + index, request_path: '/many' })));
    await log(Array.from({ length: 300 }, (_, index) => record({ timestamp: at + index, request_path: '/many' })));
    await arrived('/many', 1300);
    const { output, errors } = await run('verdicts --path /many --all');
    const ids = output.split('\n').map((line) => (JSON.parse(line) as VerdictRecord).id);
    expect([errors, ids.length, new Set(ids).size]).toEqual(['', 1300, 1300]);
    const table = await run('verdicts --path /many --all --text');
    expect(table.output.split('\n')).toHaveLength(1301);
  });

  test('refuses wrong flags in words', () =>
    expectRows(
      [
        ['verdicts --since yesterday', /^--since is yesterday\. Use a time ago such as 1h/],
        ['verdicts --limit 5000', /^--limit is 5000\. Use a number from 1 to 1000, or --all\.$/],
        ['verdicts --all --limit 5', /^Use --limit or --all, not both\.$/],
        ['verdicts --decision maybe', /decision/],
        ['verdicts --ip nowhere', /must be an IP address/],
      ],
      async ([words, message]) => {
        expect(await run(words)).toMatchObject({ exitCode: 1, output: '', errors: expect.stringMatching(message) });
      },
    ));
});

test('the gate’s own calls are no visitors, until --own-calls shows them', async () => {
  const ip = '198.51.100.77';
  const own = { ip, asn: 65_100, source: 'internal', request_path: '/__protect/session' } as const;
  await log([record(own), record(own), record({ ip, asn: 65_100, request_path: '/own' })]);
  await eventually(
    () => manage<{ total: number }>(stack(), '/protect/verdicts', { ip, limit: 1 }),
    ({ total }) => total === 3,
  );
  await expectRows(
    [
      ['', 1],
      [' --own-calls', 3],
      [' --source internal', 2],
    ],
    async ([flags, total]) => {
      expect(JSON.parse((await run(`verdicts --ip ${ip}${flags}`)).output).total).toBe(total);
    },
  );
  await expectRows(
    [
      ['', 1],
      [' --own-calls', 3],
    ],
    async ([flags, total]) => {
      const { series } = JSON.parse((await run(`top asn --since 1h${flags}`)).output);
      expect(series).toContainEqual(expect.objectContaining({ value: '65100', total }));
    },
  );
});

describe('gatehouse top', () => {
  test('lists values with their shares, largest first, the others together', async () => {
    const busy = [5, 3, 1].flatMap((count, at) =>
      Array.from({ length: count }, () => record({ decision: 'block', asn: 65_000 + at, request_path: '/top' })),
    );
    await log(busy);
    await arrived('/top', 9);
    const { output } = await run('top asn --since 1h --decision block --limit 2 --text');
    expect(output).toMatch(/^\d+ requests between .* UTC:$/m);
    expect(output).toMatch(/^AS65000 +5 +\d+\.\d % +0 +0 +5$/m);
    expect(output).toMatch(/^\d+ others +\d+ /m);
    const { series } = JSON.parse((await run('top path --since 1h --decision block')).output);
    expect(series).toContainEqual(expect.objectContaining({ value: '/top', total: 9 }));
  });

  test('names the dimensions where it gets another word', async () => {
    expect(await run('top colour')).toMatchObject({
      exitCode: 1,
      errors: expect.stringMatching(/^colour is no dimension\. Use one of: decision, source, country, asn, /),
    });
  });
});

test('gatehouse rules preview says what a file would have blocked, and changes nothing', async () => {
  const file = join(dir, 'proposed.csv');
  writeFileSync(file, 'type,value\nip,203.0.113.77\nnonsense\n');
  await log([record({ ip: '203.0.113.77', request_path: '/previewed' })]);
  await arrived('/previewed', 1);
  const rules = () => manage<{ version: number }>(stack(), '/protect/access-rules', { limit: 1 });
  const before = await rules();
  const { output, errors } = await run(`rules preview ${file} --verdict block --since 1h --text`);
  expect(errors).toBe('');
  expect(output).toContain('The file adds 1 rules, changes 0 and repeats 0. 1 lines are no rules.');
  expect(output).toMatch(/^ {2}line 3: /m);
  expect(output).toMatch(/^All \d+ requests since .*: 1 would be decided otherwise, of 1 addresses\.$/m);
  expect(output).toMatch(/^allow +block +1 +1$/m);
  expect(output).toMatch(/^ip:203\.0\.113\.77 +added +1 +1$/m);
  expect((await rules()).version).toBe(before.version);
});

test('long work shows how much of all is done, on a terminal only', async () => {
  const [file, out] = [join(dir, 'long.csv'), join(dir, 'out.csv')];
  writeFileSync(file, Array.from({ length: 12_000 }, (_, at) => `ip,10.9.${at >> 8}.${at & 255},block`).join('\n'));
  const shares = ({ errors }: { errors: string }): string[] => errors.match(/\] \d+ %/g) ?? [];
  const imported = await run(`rules import ${file}`, { showsProgress: true });
  expect([imported.exitCode, shares(imported).at(-1)]).toEqual([0, '] 100 %']);
  const exported = await run(`rules export --format csv --out ${out}`, { showsProgress: true });
  expect([exported.exitCode, shares(exported).at(-1)]).toEqual([0, '] 100 %']);
  expect(exported.errors).toMatch(/\d+ of 12\d{3} rules/);
  expect((await run(`rules export --format csv --out ${out}`)).errors).toBe('');
  await run(`rules rollback ${JSON.parse(imported.output).version - 2}`);
});

describe('gatehouse tail', () => {
  test('shows each verdict once, in spite of a restart of the service, and ends on Ctrl-C', async () => {
    const end = new AbortController();
    let shown = '';
    const paths = () => shown.split('\n').flatMap((line) => /"request_path":"(\/tailed\/\d+)"/.exec(line)?.[1] ?? []);
    const ended = run('tail --path /tailed/* --last 1', { signal: end.signal, onOutput: (text) => (shown += text) });
    const see = (count: number) =>
      eventually(
        async () => paths(),
        (seen) => seen.length >= count,
      );
    // Polls run at any time between these.
    await log([record({ request_path: '/tailed/1' }), record({ request_path: '/tailed/2' })]);
    await see(1);
    await log([record({ request_path: '/tailed/3' })]);
    await eventually(
      async () => paths(),
      (seen) => seen.includes('/tailed/3'),
    );
    await stack().stopService();
    await eventually(
      () =>
        fetch(`${stack().serviceUrl}/health`).then(
          () => true,
          () => false,
        ),
      (isUp) => !isUp,
    );
    await stack().startService();
    await log(Array.from({ length: 20 }, (_, at) => record({ request_path: `/tailed/${at + 4}` })));
    await eventually(
      async () => paths(),
      (seen) => seen.includes('/tailed/23'),
    );
    end.abort();
    const { exitCode } = await ended;
    expect(exitCode).toBe(0);
    const seen = paths();
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(Array.from({ length: 21 }, (_, at) => `/tailed/${at + 3}`)));
  });

  test('on a terminal has a head once, and a line for each verdict', async () => {
    const end = new AbortController();
    let shown = '';
    const words = 'tail --path /shown/* --last 0';
    const ended = run(words, { signal: end.signal, columns: 100, onOutput: (text) => (shown += text) });
    let [written, lines] = [0, [] as string[]];
    await eventually(
      async () => {
        // The tail may begin after the first of these.
        await log([record({ request_path: `/shown/${(written += 1)}`, decision: 'block' })]);
        lines = shown.split('\n').filter(Boolean);
        return lines;
      },
      (all) => all.length > 2,
    );
    end.abort();
    await ended;
    expect(lines.filter((line) => line.includes('REFERENCE'))).toHaveLength(1);
    expect(lines[1]).toContain('\u001B[31mblock');
  });
});

/** After a change: `node scripts/cli-docs.ts`. */
describe('docs/cli.md', () => {
  const page = readFileSync('docs/cli.md', 'utf8');
  const sections = new Map(
    [...page.matchAll(/^### (.+)\n([^]*?)(?=^### |^<!-- end)/gm)].map(([whole, name = '']) => [name, whole]),
  );
  const words = (text: string): string => text.replaceAll(/[\s\\]+/g, ' ').trim();

  test('has every command, as the table describes it', async () => {
    expect(await checkCliPage()).toEqual([]);
  });

  test('has examples that work, and print what the page shows', async () => {
    /** Ids, numbers and times differ from run to run. */
    const shape = (line: string): string =>
      words(line.replaceAll(/\b(acc|site|inst|key|chan|evt|whsec)_[\w-]+/g, '$1_').replaceAll(/\d[\d:.,TZ-]*/g, '0'));
    for (const { name, ran } of await runExamples(stack(), hosts)) {
      expect(ran.exitCode, `${name}: ${ran.errors}`).toBe(exampleExitCodes[name] ?? 0);
      const shown = sections.get(name)?.split('```')[1]?.split('\n').slice(2) ?? [];
      expect([name, shape(shown[0] ?? '')]).toEqual([name, shape(shownLines(ran)[0] ?? '')]);
    }
  });
});
