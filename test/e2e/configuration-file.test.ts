/** An account as one file: what is exported is what runs, and what is applied runs, also after every kind of failure. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.ts';
import { gatehouse } from '../support/gatehouse.ts';
import { addressOf, makeRich } from '../support/rich-account.ts';
import { manage, useStack } from '../support/stack.ts';

const RULES = 12_000;
const SECRETS = ['s3cr3t', 'hush-hush'];
const stack = useStack();
const dir = mkdtempSync(join(tmpdir(), 'gatehouse-configuration-'));
let proxy: FaultyProxy;
let siteKey: string;
let env: Record<string, string>;

beforeAll(async () => {
  ({ siteKey } = await makeRich(stack(), RULES));
  proxy = await startFaultyProxy(stack().serviceUrl);
  env = {
    GATEHOUSE_API_KEY: stack().apiKey,
    LIST_SHOP_EXAMPLE_0123_KEY: 's3cr3t',
    LIST_SHOP_EXAMPLE_0123_FORMAT: 'txt',
    LIST_SHOP_EXAMPLE_0123_VALUE: 'bare',
    LIST_SHOP_EXAMPLE_0123_AUTHORIZATION: 'X-Api-Key: hush-hush',
    ALERT__NO_URL: 'https://hooks.example.com/services/s3cr3t',
  };
});
afterAll(async () => {
  await proxy?.close();
  rmSync(dir, { recursive: true, force: true });
});

function file(name: string, text?: string): string {
  const path = join(dir, name);
  if (text !== undefined) writeFileSync(path, text);
  return path;
}

/** As people see it. */
function run(...words: string[]) {
  return gatehouse(['--text', ...words], { state: stack().stateDir, env });
}

function throughProxy(...words: string[]) {
  return gatehouse(['--text', ...words, '--service', proxy.url], { env });
}

async function exported(): Promise<string> {
  const { exitCode, output, errors } = await run('export');
  expect(exitCode, errors).toBe(0);
  return output;
}

test('a file that was just exported has no changes, no secrets, and fits the schema', async () => {
  expect(await run('export', '--out', file('all.yaml'))).toMatchObject({ exitCode: 0, output: '' });
  const text = readFileSync(file('all.yaml'), 'utf8');
  for (const secret of [...SECRETS, stack().secretKey, stack().apiKey]) expect(text).not.toContain(secret);
  // Without the variables: nothing has to be sent.
  const planned = await gatehouse(['plan', '--text', file('all.yaml')], { state: stack().stateDir });
  const output = expect.stringMatching(/^No changes\. 12,\d\d\d unchanged\.$/);
  expect(planned).toEqual({ exitCode: 0, output, errors: '' });
  const { output: json } = await run('export', '--json');
  expect(await run('plan', file('all.json', json))).toMatchObject({ exitCode: 0 });
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  addFormats.default(ajv);
  const served = await fetch(`${stack().serviceUrl}/gatehouse.schema.json`);
  const isValid = ajv.compile((await served.json()) as object);
  expect([isValid(JSON.parse(json)), isValid(parse(text)), isValid.errors]).toEqual([true, true, null]);
});

test('a change of one rule among thousands is one line of the plan', async () => {
  const text = readFileSync(file('all.yaml'), 'utf8');
  const address = addressOf(7777);
  const changed = text.replace(`value: ${address}, verdict: block`, `value: ${address}, verdict: allow`);
  const { exitCode, output } = await run('plan', file('one.yaml', changed));
  expect(exitCode).toBe(2);
  expect(output).toMatch(
    new RegExp(
      `^rules of shop.example\\n {2}~ ip:${address}\\n {6}verdict: "block" -> "allow"\\n\\nPlan [0-9a-f]{16}: 1 to change; 12,\\d{3} unchanged\\.$`,
    ),
  );
});

/** A deleted site keeps its name. */
let unwanted = 0;

/** Takes something of every kind away, and changes something. */
async function spoil(): Promise<void> {
  const call = (path: string, body: object) => manage(stack(), path, body);
  const instances = await manage<{ id: string; cname: string; active: boolean }[]>(stack(), '/protect/instances');
  const { id } = instances.find(({ cname, active }) => active && cname === 'shop.example')!;
  await call('/protect/instances/delete', { id });
  await call('/sites/delete', { siteKey });
  unwanted += 1;
  await call('/sites/create', { name: `unwanted-${unwanted}`, settings: { domains: ['c.example'] } });
  await call('/protect/instances/update', { id: stack().instanceId, challengeThreshold: 0.4, ignoredDetectors: [] });
  await call('/protect/access-rules/create', {
    siteKey: stack().siteKey,
    rules: [{ type: 'ip', value: '9.9.9.9', verdict: 'block' }],
  });
  const { rules } = await manage<{ rules: { userScopeHash: string }[] }>(stack(), '/access-control/get', { limit: 3 });
  for (const { userScopeHash } of rules) await call('/access-control/delete', { userScopeHash });
  await call('/protect/bots/own/remove', { id: 'own-1' });
  await call('/protect/bots/own/add', { id: 'own-2', behaviours: ['search'], patterns: ['Unwanted/'] });
  await call('/users/delete', { email: 'no@example.com' });
  await call('/users/create', { email: 'unwanted@example.com', name: 'x', role: 'admin' });
  const { channels } = await manage<{ channels: { id: string }[] }>(stack(), '/alerts/channels');
  for (const channel of channels) await call('/alerts/channels/delete', { channelId: channel.id });
}

test('an account that has lost much is as the file says after apply, and a second run changes nothing', async () => {
  const before = await exported();
  await spoil();
  const plan = await run('plan', file('all.yaml'));
  expect(plan).toMatchObject({ exitCode: 2, errors: '' });
  for (const line of [
    '  + shop-1e3\n',
    '  - unwanted-1\n',
    '      settings.challengeThreshold: 0.4 -> 0.5',
    'rules of localhost\n  - ip:9.9.9.9\n',
    `… and 12,0`,
    '  - own-2\n',
    'Note: instances[0].rules is empty and would delete the only one of the rules of localhost.',
    '  - unwanted@example.com\n',
    '      authorization: "(secret)"',
  ])
    expect(plan.output).toContain(line);
  for (const secret of SECRETS) expect(plan.output).not.toContain(secret);
  expect(before).not.toBe(await exported());
  expect(await run('apply', '--yes', file('all.yaml'))).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining('add --allow-empty'),
  });
  const applied = await run('apply', '--yes', '--allow-empty', file('all.yaml'));
  expect(applied).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^Done: 12,\d\d\d changes\.$/) });
  for (const secret of SECRETS) expect(applied.errors).not.toContain(secret);
  expect(await exported()).toBe(before);
  expect(await run('apply', '--yes', file('all.yaml'))).toMatchObject({
    exitCode: 0,
    output: expect.stringMatching(/^No changes\./),
    errors: '',
  });
  // The tests below run apply many times.
  const small = before.replaceAll(/^ *- \{ type: ip, value: 11\.0\.(?!0\.\d\b).*\n/gm, '');
  expect(await run('apply', '--yes', file('all.yaml', small))).toMatchObject({ exitCode: 0 });
  expect(await exported()).toBe(small);
});

test.each(['before', 'after'] as const)(
  'an apply that fails %s the effect of each of its writes ends well when it is run again',
  async (fault) => {
    const before = await exported();
    await spoil();
    const failed = new Set<string>();
    const isRead =
      /^\/(?:sites\/get|users\/get|access-control\/get|alerts\/channels|protect\/(?:instances|lists|policies|access-rules|bots\/own))$/;
    // Each kind of write fails once, wherever a run meets it first.
    proxy.at = (path) => {
      if (isRead.test(path) || failed.has(path)) return null;
      failed.add(path);
      return fault;
    };
    let runs = 0;
    for (let done = false; !done; runs += 1) {
      const { exitCode, errors, output } = await throughProxy('apply', '--yes', '--allow-empty', file('all.yaml'));
      done = exitCode === 0;
      if (done) continue;
      expect(errors + output).toMatch(/Could not .*cannot be reached/);
      expect(errors).toContain('Run the same command again');
      expect(runs).toBeLessThan(40);
    }
    proxy.at = () => null;
    expect(failed.size).toBeGreaterThan(12);
    expect(await exported()).toBe(before);
    expect(await run('plan', file('all.yaml'))).toMatchObject({ exitCode: 0 });
  },
);

test('a failure says what was done and what was not', async () => {
  const users = '[{ email: a@x.example, name: A, role: viewer }, { email: b@x.example, name: B, role: viewer }]';
  const path = file(
    'two.yaml',
    `version: 1\nbots: [{ id: b1, behaviours: [search], patterns: [B1Bot/] }]\nusers: ${users}`,
  );
  let writes = 0;
  proxy.at = (called) => (called === '/users/create' && ++writes === 2 ? 'before' : null);
  const { exitCode, errors } = await throughProxy('apply', '--yes', '--no-prune', path);
  proxy.at = () => null;
  expect(exitCode).toBe(1);
  expect(errors).toContain(`Done, 2 of 3 steps:
  create the bot b1
  create the user a@x.example
Not done:
  create the user b@x.example
Run the same command again: it makes the changes that are left.`);
  expect(await throughProxy('apply', '--yes', '--no-prune', path)).toMatchObject({
    exitCode: 0,
    output: 'Done: 1 changes.',
  });
  await run('apply', '--yes', file('all.yaml'));
});

test('what somebody changes between the plan and the first write is left as it is', async () => {
  const before = await exported();
  const path = file(
    'policy.yaml',
    'version: 1\ninstances: [{ cname: localhost, policies: [{ name: p, when: path exists, then: { action: allow } }] }]',
  );
  const change = (body: object) => manage(stack(), '/protect/policies/set', { siteKey: stack().siteKey, ...body });
  const other = { name: 'other', when: 'path equals "/other"', then: { action: 'block' } };
  let reads = 0;
  proxy.at = async (called) => {
    if (called === '/protect/policies' && ++reads === 2) await change({ policies: [other] });
    return null;
  };
  expect(await throughProxy('apply', '--yes', path)).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining(
      'Somebody changed the policies of localhost after the plan was made. Nothing was changed. Run "gatehouse plan" again.',
    ),
  });
  // After the last reading, the service itself compares the versions.
  proxy.at = async (called) => {
    if (called === '/protect/policies/set') await change({ policies: [] });
    return null;
  };
  expect(await throughProxy('apply', '--yes', path)).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining(
      'Could not set the policies of localhost: Somebody changed it after the plan was made. Run "gatehouse plan" again.\nNothing was changed.',
    ),
  });
  proxy.at = () => null;
  expect(await exported()).toBe(before);
});

test('a rule that somebody else writes is refused by its version too, and rules go on from there', async () => {
  const before = await exported();
  const path = file(
    'rules.yaml',
    'version: 1\ninstances: [{ cname: localhost, rules: [{ type: ip, value: 9.9.9.1, verdict: block }] }]',
  );
  const rule = { type: 'ip', value: '9.9.9.2', verdict: 'block' };
  proxy.at = async (called) => {
    if (called === '/protect/access-rules/create')
      await manage(stack(), '/protect/access-rules/create', { siteKey: stack().siteKey, rules: [rule] });
    return null;
  };
  const refused = await throughProxy('apply', '--yes', path);
  expect(refused).toMatchObject({ exitCode: 1, errors: expect.stringContaining('Somebody changed it after') });
  proxy.at = () => null;
  expect((await run('plan', path)).output).toContain('rules of localhost\n  + ip:9.9.9.1');
  expect(await run('apply', '--yes', path)).toMatchObject({ exitCode: 0 });
  expect(await run('apply', '--yes', '--allow-empty', file('all.yaml'))).toMatchObject({ exitCode: 0 });
  expect(await exported()).toBe(before);
});

test('a rejected file changes nothing, and names every problem with its place', async () => {
  const before = await exported();
  const path = file(
    'rejected.yaml',
    `version: 1
sites:
  - { name: demo }
  - { name: fresh }
instances:
  - { cname: localhost, site: nowhere, settings: { challengeThreshold: 0.9 } }
  - cname: new.example
    policies: [{ name: p, when: path exists, then: { action: limit, limit: none } }]
    lists: [{ name: l, format: csv }, { name: m, url: https://l.example/x, authorization: '\${ENV:NOT_SET}' }]
users: [{ email: ${stack().ownerEmail}, name: Owner, role: admin }]
alertChannels: [{ name: '通知: NO', shape: discord, webhookUrl: '\${ENV:X}' }]
`,
  );
  proxy.calls.length = 0;
  const { exitCode, errors } = await throughProxy('apply', '--yes', path);
  expect(exitCode).toBe(1);
  const lines = errors.split('\n').map((line) => line.replace(path, 'f').trim());
  expect(lines).toEqual([
    'f has 9 problems. Nothing was changed.',
    'f:4:5  sites[1].settings.domains is required for a new site',
    'f:6:31  instances[0].site is the name or key of no active site of the account, and of no site of the file',
    'f:6:50  instances[0].settings challengeThreshold must not be above blockThreshold',
    'f:7:5  instances[1] needs a site, because the account has no instance with this cname',
    'f:8:76  instances[1].policies[0].then.limit must name a limit; there is none named "none"',
    'f:9:13  instances[1].lists[0].column is required with csv',
    'f:9:91  instances[1].lists[1].authorization The variable NOT_SET is not set. Set it to the secret that the file refers to',
    'f:10:18  users[0].email is the owner of the account, whom this file cannot change. Remove the item',
    'f:11:42  alertChannels[0].shape cannot change: the channel is slack. Choose another name',
  ]);
  const sites = file('sites.yaml', 'version: 1\nsites: [{ name: demo }, { name: "NO" }]');
  expect((await run('plan', sites)).errors).toContain(
    'sites.yaml:2:8  sites would delete the site shop-1e3, which the instance shop.example uses.',
  );
  const used = file('used.yaml', 'version: 1\nsites: []\ninstances: [{ cname: localhost, site: demo }]');
  const { errors: refused } = await run('plan', used);
  expect(refused).toContain('would delete the site demo, which the instance localhost uses.');
  expect(refused).toContain('sites is empty, and an account keeps a site.');
  expect(proxy.calls.filter((called) => /create|update|delete|set|add|remove/.test(called))).toEqual([]);
  expect(await exported()).toBe(before);
});

test('an empty list deletes everything only when it is said, and --no-prune deletes nothing', async () => {
  const before = await exported();
  const path = file('empty.yaml', 'version: 1\nusers: []');
  expect(await run('apply', '--yes', path)).toMatchObject({
    exitCode: 1,
    errors: `${path} has a problem. Nothing was changed.
  ${path}:2:8  users is empty and would delete all 2 users. Remove the section to leave them alone, or add --allow-empty`,
  });
  const kept = await run('plan', '--no-prune', path);
  expect(kept).toMatchObject({ exitCode: 0, output: expect.stringMatching(/ \d that the file does not name stay\.$/) });
  expect(await exported()).toBe(before);
  expect(await run('apply', '--yes', '--allow-empty', path)).toMatchObject({ exitCode: 0 });
  expect(await exported()).toContain('\nusers: []\n');
  await run('apply', '--yes', '--allow-empty', file('all.yaml'));
  expect(await exported()).toBe(before);
});

test('apply needs --yes without a terminal, and makes only the plan that was expected', async () => {
  const before = await exported();
  const path = file('user.yaml', 'version: 1\nusers: [{ email: new@x.example, name: New, role: viewer }]');
  expect(await run('apply', path)).toMatchObject({
    exitCode: 1,
    errors: 'apply asks before it changes anything, and nobody can answer here. Add --yes.',
  });
  const planned = await gatehouse(['plan', '--no-prune', path], { state: stack().stateDir, env });
  const { id, counts, changes } = JSON.parse(planned.output) as { id: string; counts: object; changes: object[] };
  expect(counts).toMatchObject({ create: 1, delete: 0, leftAlone: 2 });
  expect(changes).toEqual([
    {
      kind: 'user',
      name: 'new@x.example',
      action: 'create',
      fields: [
        { field: 'name', before: null, after: 'New' },
        { field: 'role', before: null, after: 'viewer' },
      ],
    },
  ]);
  const other = await run('apply', '--yes', '--expect', id, path);
  expect(other).toMatchObject({ exitCode: 1, errors: expect.stringContaining(`and not ${id}`) });
  expect(await exported()).toBe(before);
  expect(await run('apply', '--yes', '--no-prune', '--expect', id, path)).toMatchObject({ exitCode: 0 });
  expect(await run('apply', '--yes', file('all.yaml'))).toMatchObject({ exitCode: 0 });
});

test('secrets are sent again when it is asked for, and nothing else is', async () => {
  const path = file('all.yaml');
  const planned = await run('plan', '--send-secrets', path);
  expect(planned).toMatchObject({ exitCode: 2, output: expect.stringContaining('2 to change') });
  proxy.calls.length = 0;
  expect(await throughProxy('apply', '--yes', '--send-secrets', path)).toMatchObject({ exitCode: 0 });
  expect(proxy.calls.filter((called) => called.endsWith('/update'))).toEqual([
    '/protect/lists/update',
    '/alerts/channels/update',
  ]);
  const { errors } = await gatehouse(['plan', '--send-secrets', path], { state: stack().stateDir });
  expect(errors).toContain('The variable LIST_SHOP_EXAMPLE_0123_AUTHORIZATION is not set.');
});

test('a run that is stopped ends after the step that is under way', async () => {
  const before = await exported();
  const users = ['a', 'b', 'c'].map((name) => `{ email: ${name}@stop.example, name: x, role: viewer }`);
  const path = file('stop.yaml', `version: 1\nusers: [${users.join(', ')}]`);
  const stopper = new AbortController();
  proxy.at = (called) => {
    if (called === '/users/create') stopper.abort();
    return null;
  };
  const words = ['apply', '--yes', '--no-prune', path, '--service', proxy.url];
  const { exitCode, errors } = await gatehouse(words, { env, signal: stopper.signal });
  proxy.at = () => null;
  expect(exitCode).toBe(1);
  expect(errors).toContain('Could not create the user b@stop.example: The run was stopped.\nDone, 1 of 3 steps:\n');
  await run('apply', '--yes', file('all.yaml'));
  expect(await exported()).toBe(before);
});
