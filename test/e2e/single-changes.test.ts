/** Commands that change one thing: each says what it changed, and prints the command that takes it back. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { gatehouse, type Ran, type RunSettings } from '../support/gatehouse.ts';
import { manage, useStack } from '../support/stack.ts';

const stack = useStack();
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-changes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Names {
  policies: { name: string; mode: string }[];
  limits: { name: string; mode: string; count: number }[];
}

const stored = async () => {
  const { policies, limits } = await manage<Names>(stack(), '/protect/policies');
  return { policies: policies.map(({ name }) => name), limits: limits.map(({ name }) => name) };
};
const rules = async () => {
  const { rules: listed } = await manage<{ rules: { value: string; verdict: string }[] }>(
    stack(),
    '/protect/access-rules',
    { limit: 100 },
  );
  return listed.map(({ value, verdict }) => `${value} ${verdict}`).toSorted();
};

function run(line: string, settings: RunSettings = {}): Promise<Ran> {
  return gatehouse(
    [...line.match(/'[^']*'|\S+/g)!].map((word) => word.replaceAll("'", '')),
    {
      state: stack().stateDir,
      columns: 200,
      ...settings,
    },
  );
}

async function done(line: string): Promise<string> {
  const { exitCode, output, errors } = await run(line);
  expect([line, exitCode, errors]).toEqual([line, 0, '']);
  return output;
}

/** Runs the command that an output ends with. */
async function takenBack(output: string): Promise<void> {
  const way = /^Take it back with: gatehouse (.+)$/m.exec(output)?.[1];
  expect([output, way]).toEqual([output, expect.any(String)]);
  // The directory of the stack is added by `run`.
  await done(way!.replace(/ --state \S+/g, ''));
}

function file(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const searches = file('searches.json', {
  limits: [{ name: 'searches', key: ['ip'], count: 30, windowSeconds: 60 }],
  policies: [
    { name: 'count-searches', when: 'path startsWith "/search"', then: { action: 'limit', limit: 'searches' } },
  ],
});

beforeEach(async () => {
  await manage(stack(), '/protect/policies/set', {
    limits: [{ name: 'orders', key: ['ip'], count: 3, windowSeconds: 3600 }],
    policies: [
      { name: 'count-orders', when: 'path startsWith "/order"', then: { action: 'limit', limit: 'orders' } },
      { name: 'office', when: 'ip ipIn ["192.0.2.0/24"]', then: { action: 'allow' } },
    ],
  });
});
const before = { policies: ['count-orders', 'office'], limits: ['orders'] };

test.each([
  [
    `policies add scrapers --when 'path startsWith "/api"' --then block`,
    { policies: [...before.policies, 'scrapers'] },
  ],
  ['policies remove office', { policies: ['count-orders'] }],
  [`limits add ${searches}`, { limits: ['orders', 'searches'], policies: ['count-searches', ...before.policies] }],
  ['limits remove orders', { limits: [], policies: ['office'] }],
])('%s changes that alone, and prints the way back', async (line, change) => {
  const dry = await done(`${line} --dry-run`);
  expect(dry).toContain('Nothing was changed');
  expect(await stored()).toEqual(before);
  const output = await done(line);
  expect(await stored()).toEqual({ ...before, ...change });
  await takenBack(output);
  expect(await stored()).toEqual(before);
});

test('limits update changes what is given of a limit, and limits list shows it', async () => {
  const output = await done('limits update orders --mode monitor --count 5');
  expect(await done('limits list')).toMatch(/^orders +request by ip +5 in 3600 s +429 +monitor +count-orders$/m);
  await takenBack(output);
  expect(await done('limits list')).toMatch(/^orders +request by ip +3 in 3600 s +429 +enforce +count-orders$/m);
});

test('limits add refuses a name that is taken, and limits remove one that is not', async () => {
  const taken = file('orders.json', { limits: [{ name: 'orders', key: ['ip'], count: 1, windowSeconds: 60 }] });
  expect((await run(`limits add ${taken}`)).errors).toBe(
    'There is a limit named "orders" already. Nothing was changed. Choose another name.',
  );
  expect((await run('limits remove nothing')).errors).toBe('There is no limit named "nothing".');
  expect(await stored()).toEqual(before);
});

test('policies set names what it would remove, and removes it with --yes or after a yes', async () => {
  const asks =
    'policies set would remove the policy count-orders, the policy office, the limit orders. Nothing was changed. ' +
    'Add --yes to remove them, or add to what is there with policies add or limits add.';
  expect(await run(`policies set ${searches}`)).toEqual({ exitCode: 1, output: '', errors: asks });
  const no = await run(`policies set ${searches}`, { stdin: 'no\n', isTyped: true });
  expect([no.exitCode, no.errors]).toEqual([
    1,
    expect.stringMatching(/- limit orders removed\n[^]*Nothing was changed\.$/),
  ]);
  expect(await stored()).toEqual(before);
  const yes = await run(`policies set ${searches}`, { stdin: 'yes\n', isTyped: true });
  const replaced = { policies: ['count-searches'], limits: ['searches'] };
  expect([yes.exitCode, await stored()]).toEqual([0, replaced]);
  await takenBack(yes.output);
  expect(await stored()).toEqual(before);
  await takenBack(await done(`policies set ${searches} --yes`));
  expect(await stored()).toEqual(before);
});

test('a condition with != is stored as the not that it means', async () => {
  const added = await done(`policies add elsewhere --when 'path != "/login" and country not in ["DE"]' --then block`);
  const { policies } = await manage<{ policies: { text: string }[] }>(stack(), '/protect/policies');
  expect(policies.at(-1)!.text).toBe('not path equals "/login" and not country in ["DE"]');
  await takenBack(added);
});

test('a rule is added, changed, listed and removed, each with the way back', async () => {
  const first = await done(`rules add userAgent 'bad bot' --verdict block --note 'ticket 7'`);
  expect(first).toContain('The rule for userAgent bad bot (block) is added.');
  expect(await done('rules list --type userAgent')).toMatch(/^userAgent +bad bot +block +enforce/m);
  const changed = await done(`rules add userAgent 'bad bot' --verdict challenge`);
  expect(await rules()).toEqual(['bad bot challenge']);
  await takenBack(changed);
  expect(await rules()).toEqual(['bad bot block']);
  const removed = await done(`rules remove userAgent 'bad bot'`);
  expect(await rules()).toEqual([]);
  await takenBack(removed);
  expect(await rules()).toEqual(['bad bot block']);
  await takenBack(first);
  expect(await rules()).toEqual([]);
  expect((await run('rules remove ip 192.0.2.7')).errors).toBe('There is no rule for ip 192.0.2.7.');
  // A value says its type itself, as in an import.
  expect(await done('rules add 192.0.2.0/24 --verdict block')).toContain(
    'The rule for ipMask 192.0.2.0/24 (block) is added.',
  );
  expect(await done('rules remove 192.0.2.0/24')).toContain('The rule for ipMask 192.0.2.0/24 is removed.');
  const unclear = await run('rules add badbot --verdict block');
  expect(unclear.errors).toMatch(/^badbot is no address, network.*Or name its type before it, such as userAgent\.$/);
});

test('a list is added and removed, each with the way back', async () => {
  const names = async () =>
    (await manage<{ lists: { name: string; verdict: string }[] }>(stack(), '/protect/lists')).lists.map(
      ({ name, verdict }) => `${name} ${verdict}`,
    );
  const added = await done('lists add offices --verdict allow');
  expect(await names()).toEqual(['offices allow']);
  await takenBack(added);
  expect(await names()).toEqual([]);
  await done('lists add offices --verdict allow');
  const { output } = await run('lists remove offices');
  expect(output).toMatch(
    /^Take it back with: gatehouse lists add offices .*--verdict allow .*&& gatehouse lists replace offices FILE --state \S+$/m,
  );
  expect(await names()).toEqual([]);
});
