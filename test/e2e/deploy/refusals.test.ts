/** What makes a deployment impossible is refused in one sentence that says what to do, before anything is written. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newAccountState, newZone } from '../../support/platform/account-state.ts';
import { rows } from '../../support/platform/inventory.ts';
import { Operator } from '../../support/platform/operator.ts';
import type { Platform } from '../../support/platform/platform.ts';

const DEPLOY = ['--site', 'www.example.com'];
let operator: Operator;

beforeEach(async () => {
  operator = new Operator();
  await operator.start();
});
afterEach(() => operator.stop());

interface Case {
  what: string;
  words?: string[];
  env?: Record<string, string>;
  given?: (platform: Platform) => void;
  says: RegExp;
}

const zoneOf = (platform: Platform) => platform.state.zones[0]!;

const cases: Case[] = [
  {
    what: 'a site in no zone of the login',
    words: ['--site', 'www.example.org'],
    says: /^No zone of the login holds www\.example\.org\. It sees example\.com\. Correct --site, /,
  },
  {
    what: 'a zone of another account than CLOUDFLARE_ACCOUNT_ID',
    env: { CLOUDFLARE_ACCOUNT_ID: 'acc2' },
    given: ({ state }) => state.accounts.push(newAccountState('acc2', 'Other')),
    says: /^No zone of the login holds www\.example\.com\. It sees no zone\. /,
  },
  {
    what: 'a zone that several accounts have',
    given: ({ state }) => {
      state.accounts.push(newAccountState('acc2', 'Other'));
      state.zones.push(newZone('zone2', 'example.com', 'acc2', ['www']));
    },
    says: /^Several accounts of the login have the zone example\.com\. Set CLOUDFLARE_ACCOUNT_ID to one of: acc1, acc2\.$/,
  },
  {
    what: 'a zone that is not active',
    given: (platform) => (zoneOf(platform).status = 'pending'),
    says: /^The zone example\.com is pending, not active\. Finish its set-up /,
  },
  {
    what: 'a site without a DNS record',
    given: (platform) => (zoneOf(platform).records = []),
    says: /^www\.example\.com has no DNS record in the zone example\.com\. Add one /,
  },
  {
    what: 'the host of the zone, which no wildcard covers',
    words: ['--site', 'example.com'],
    given: (platform) => zoneOf(platform).records.push({ type: 'A', name: '*.com', proxied: true }),
    says: /^example\.com has no DNS record in the zone example\.com\. Add one /,
  },
  {
    what: 'a site whose DNS record is not proxied',
    given: (platform) => zoneOf(platform).records.forEach((record) => (record.proxied = false)),
    says: /^The DNS record of www\.example\.com is not proxied, .* Set it to "Proxied"/,
  },
  {
    what: 'a route of another Worker',
    given: (platform) => zoneOf(platform).routes.push({ id: 'r1', pattern: 'www.example.com/*', script: 'shop' }),
    says: /^The route www\.example\.com\/\* belongs to the Worker shop\. Remove that route /,
  },
  ...['*.example.com/*', '*example.com/*', '*.example.com/api/*', 'https://*.EXAMPLE.com/*'].map((pattern) => ({
    what: `a route ${pattern} that brings the site to another Worker`,
    words: [...DEPLOY, '--service-host', 'gatehouse.other.example'],
    given: ({ state }: Platform) => {
      state.zones[0]!.routes.push({ id: 'r1', pattern, script: 'shop' });
      state.zones.push(newZone('zone2', 'other.example', 'acc1', []));
    },
    says: /^The route \S+ brings requests for www\.example\.com to the Worker shop, .* Give that Worker a route without /,
  })),
  ...['https://www.example.com/*', 'http://www.example.com/*'].map((pattern) => ({
    what: `a route ${pattern} that leads past the gate`,
    given: (platform: Platform) => zoneOf(platform).routes.push({ id: 'r1', pattern, script: null }),
    says: /^The route https?:\S+ belongs to no Worker, which exempts it, and it is more specific .* Remove that route /,
  })),
  ...[null, 'shop'].map((script) => ({
    what: `a route of ${script ?? 'no Worker'} over the service host`,
    given: (platform: Platform) => zoneOf(platform).routes.push({ id: 'r1', pattern: '*house.example.com/*', script }),
    says: /^The route \*house\.example\.com\/\* of the zone belongs to .*, and it covers gatehouse\.example\.com, .*--service-host/,
  })),
  {
    what: 'a service host that is the domain of another Worker',
    given: ({ account }) =>
      account.domains.push({ id: 'd1', hostname: 'gatehouse.example.com', service: 'shop', zone_id: 'zone1' }),
    says: /^gatehouse\.example\.com is the domain of the Worker shop\. Choose another host with --service-host\.$/,
  },
  {
    what: 'a service host with a DNS record of its own',
    given: (platform) => zoneOf(platform).records.push({ type: 'CNAME', name: 'gatehouse.example.com', proxied: true }),
    says: /^gatehouse\.example\.com has a DNS record already, .* --service-host, or delete the record\.$/,
  },
  {
    what: 'a service host in another account',
    words: [...DEPLOY, '--service-host', 'gate.example.net'],
    given: ({ state }) => {
      state.accounts.push(newAccountState('acc2', 'Other'));
      state.zones.push(newZone('zone2', 'example.net', 'acc2', []));
    },
    says: /^gate\.example\.net is in another account than www\.example\.com, /,
  },
  {
    what: 'the site as the host of the service',
    words: [...DEPLOY, '--service-host', 'www.example.com'],
    says: /^The service needs a host of its own\. /,
  },
  {
    what: 'a Worker of the same name that this command has not deployed',
    given: ({ account }) => {
      const metadata = { main_module: 'index.js' };
      account.scripts.set('gatehouse-service', {
        modules: new Map(),
        metadata,
        secrets: new Map(),
        schedules: [],
        uploads: 1,
      });
    },
    says: /^The account has a Worker gatehouse-service, but no database gatehouse: .* Choose another name with --name\.$/,
  },
  {
    what: 'a token that does not say whose it is',
    given: ({ state }) => (state.email = null),
    says: /^The token does not say whose it is\. .* --email owner@example\.com\.$/,
  },
  {
    what: 'a token that is not valid',
    env: { CLOUDFLARE_API_TOKEN: 'not-the-token' },
    says: /Give the token the permission "Zone, Zone: Read", or run "npx wrangler login" /,
  },
  {
    what: 'nobody who is logged in',
    env: { CLOUDFLARE_API_TOKEN: '' },
    says: /^You are not logged in to Cloudflare\. Run "npx wrangler login", or set CLOUDFLARE_API_TOKEN, /,
  },
  {
    what: 'a site with a scheme',
    words: ['--site', 'https://www.example.com'],
    says: /^--site is a host name such as /,
  },
  { what: 'a site with a port', words: ['--site', 'www.example.com:8443'], says: /^--site is a host name such as / },
  {
    what: 'a name with a slash',
    words: [...DEPLOY, '--name', '../gate'],
    says: /^--name is 2 to 32 lower-case letters/,
  },
  { what: 'a command without its site', words: [], says: /^Missing: --site\. Usage: npm run deploy -- --site HOST/ },
  { what: 'an unknown command', words: ['undeploy', ...DEPLOY], says: /^Unexpected: undeploy\. Usage: npm run deploy/ },
  { what: 'an unknown flag', words: [...DEPLOY, '--force'], says: /^Unknown flag --force\. Usage: / },
];

describe('a deployment refuses', () => {
  test.each(cases)('$what, before it writes', async ({ words = DEPLOY, env = {}, given, says }) => {
    given?.(operator.platform);
    const { code, error } = await operator.run(words, env);
    expect(error).toMatch(says);
    expect([code, error.split('\n').length]).toEqual([1, 1]);
    expect(operator.platform.writes()).toEqual([]);
  });

  test.each([
    ['D1: Edit', /^POST .*\/d1\/database$/],
    ['Workers R2 Storage: Edit', /^POST .*\/r2\/buckets$/],
    ['Queues: Edit', /^(?:GET|POST) .*\/queues$/],
    ['Workers KV Storage: Edit', /^POST .*\/storage\/kv\/namespaces$/],
    ['Workers Routes: Edit', /^GET .*\/workers\/routes$/],
    ['Workers Scripts: Edit', /^GET .*\/workers\/scripts\//],
    ['Zone: Read', /^GET \/zones$/],
  ])('a login without the permission "%s", which it names', async (permission, forbidden) => {
    operator.platform.forbidden = forbidden;
    const { code, error } = await operator.run(DEPLOY);
    expect([code, error.split('\n').length]).toEqual([1, 1]);
    expect(error).toContain(`${permission}", or run "npx wrangler login" as a user who has it`);
    operator.platform.forbidden = null;
    expect((await operator.run(DEPLOY)).code).toBe(0);
  });

  test.each([
    ['is in public DNS', true, /^gatehouse\.example\.com is in public DNS already, /],
    ['public DNS says nothing about', null, /^Nobody can check whether gatehouse\.example\.com has a DNS record, /],
  ])('a service host that %s, to a login that may not read records', async (_, isInPublicDns, says) => {
    operator.platform.forbidden = /dns_records/;
    operator.isInPublicDns = isInPublicDns;
    const { code, error } = await operator.run(DEPLOY);
    expect([code, error.split('\n').length]).toEqual([1, 1]);
    expect(error).toMatch(says);
    expect(error).toContain('the service would replace its record. Choose another host with --service-host, or ');
    expect(operator.platform.writes()).toEqual([]);
  });

  test('a DNS record that somebody adds at the service host during the run, before it is replaced', async () => {
    let isAdded = false;
    operator.platform.changed = () => {
      if (!isAdded) zoneOf(operator.platform).records.push({ type: 'A', name: 'gatehouse.example.com', proxied: true });
      isAdded = true;
      return Promise.resolve();
    };
    const { code, error } = await operator.run(DEPLOY);
    expect([code, error]).toEqual([1, expect.stringMatching(/^gatehouse\.example\.com has a DNS record already, /)]);
    expect(operator.platform.account.scripts.size).toBe(0);
  });

  test('an account without R2, with where to enable it', async () => {
    const { account } = operator.platform;
    account.hasR2 = false;
    const { code, error } = await operator.run(DEPLOY);
    expect([code, error]).toEqual([1, expect.stringMatching(/^R2 is not enabled for the account: .* Enable it in /)]);
    account.hasR2 = true;
    expect((await operator.run(DEPLOY)).error).toBe('');
  });

  test('another host for a service that runs', async () => {
    await operator.run(DEPLOY);
    const writes = operator.platform.writes().length;
    const { error } = await operator.run([...DEPLOY, '--service-host', 'gate.example.com']);
    expect(error).toMatch(/^The service runs at gatehouse\.example\.com, .* Leave --service-host out, /);
    expect(operator.platform.writes()).toHaveLength(writes);
  });

  test.each([
    ['a version', `UPDATE deployment SET version = '99.0.0'`],
    ['a migration', `INSERT INTO d1_migrations (name) VALUES ('9999_later.sql')`],
  ])('a service that is newer by %s than this checkout, to deploy and to upgrade', async (_, sql) => {
    await operator.run(DEPLOY);
    await rows(operator, sql);
    const writes = operator.platform.writes().length;
    for (const words of [DEPLOY, ['upgrade']]) {
      const { code, error } = await operator.run(words);
      expect(code).toBe(1);
      expect(error).toMatch(/^The deployed service is newer than this checkout \(.*\)\. Update the checkout /);
    }
    expect(operator.platform.writes()).toHaveLength(writes);
  });

  test('an account that it cannot tell from others', async () => {
    await operator.run(DEPLOY);
    await rows(operator, `UPDATE accounts SET owner_email = 'first@example.com'`);
    await rows(
      operator,
      `INSERT INTO accounts (id, owner_email, tier, features, created_at, updated_at)
       VALUES ('acc_2', 'second@example.com', 'free', '[]', 1, 1)`,
    );
    const { error } = await operator.run(['--site', 'shop.example.com']);
    expect(error).toMatch(
      /^The deployment has several accounts\. Add --email with the owner of one: \w+@example\.com, \w+@/,
    );
  });
});

describe('a deployment warns of', () => {
  test('a login that may not read DNS records, and of routes that lead past the gate', async () => {
    operator.platform.forbidden = /dns_records/;
    operator.platform.state.zones[0]!.routes.push({ id: 'r1', pattern: 'www.example.com/api/*', script: 'api' });
    const { code, output } = await operator.run(DEPLOY);
    expect(code).toBe(0);
    expect(output).toContain(
      'Note: The login may not read DNS records, so nobody has checked that www.example.com is proxied.',
    );
    expect(output).toContain(
      'Note: The login may not read DNS records. gatehouse.example.com is not in public DNS, so it counts as free.',
    );
    expect(output).toContain(
      "Note: The route www.example.com/api/* of the Worker api is longer than the gate's, so its requests do not pass the gate.",
    );
  });

  test('wider routes that came after the gate, which it does not displace', async () => {
    await operator.run(DEPLOY);
    for (const [id, pattern] of ['*.example.com/*', '*.example.com/api/*', '*other.example.com/*'].entries())
      zoneOf(operator.platform).routes.push({ id: `r${id}`, pattern, script: 'shop' });
    const { code, output } = await operator.run(DEPLOY);
    expect(code).toBe(0);
    expect(output.match(/^Note: .*/gm)).toEqual([
      "Note: The route *.example.com/api/* of the Worker shop may be preferred to the gate's for its requests.",
      'Note: The route *.example.com/* of the Worker shop covers gatehouse.example.com and may hide the service.',
      'Note: The route *.example.com/api/* of the Worker shop covers gatehouse.example.com and may hide the service.',
    ]);
  });
});
