/** Protect instances over the management API. */
import { describe, expect, test } from 'vitest';
import { expectRows } from '../../support/rows.ts';
import { call, newAccount, send } from './service-under-test.ts';

let names = 0;
function cname(): string {
  names += 1;
  return `www.example${names}.com`;
}

describe('creating an instance', () => {
  test('needs only name, cname and global site key', async () => {
    const { token, site } = await newAccount();
    const name = cname();
    const { status, body } = await call(token, '/protect/instances/create', {
      name: 'Shop',
      cname: `HTTPS://${name.toUpperCase()}/`,
      globalSiteKey: site.siteKey,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'Shop',
      cname: name,
      globalSiteKey: site.siteKey,
      active: true,
      challengeThreshold: 0.5,
      blockThreshold: 0.85,
      defaultPathType: 'html',
      sessionsEnabled: true,
      clientJwtsRevokedBefore: null,
    });
    expect(body).not.toHaveProperty('accountId');
    expect(body.version).toBe(1);
  });

  test('starts it in monitor mode with the script in its pages, and enforcing only where the call says so', async () => {
    const make = async (policy: object) => {
      const { token, site } = await newAccount();
      const identity = { name: 'Shop', cname: cname(), globalSiteKey: site.siteKey };
      const made = await call(token, '/protect/instances/create', { ...identity, ...policy });
      // A later change of something else leaves both as they are.
      return (await call(token, '/protect/instances/update', { id: made.body.id, name: 'Shop 2' })).body;
    };
    expect(await make({})).toMatchObject({ name: 'Shop 2', monitor: true, autoInject: true });
    const chosen = { monitor: false, autoInject: false };
    expect(await make(chosen)).toMatchObject({ name: 'Shop 2', ...chosen });
  });

  test('keeps ipCategoryRules, and reads the older words captcha as challenge and allow as pass', async () => {
    const { token, site } = await newAccount();
    const { body } = await call(token, '/protect/instances/create', {
      name: 'Shop',
      cname: cname(),
      globalSiteKey: site.siteKey,
      ipCategoryRules: { tor: 'block', vpn: 'captcha' },
      enforcementPolicy: { html: { onPending: 'allow', onChallenge: 'captcha' }, json: { onPending: 'captcha' } },
    });
    expect(body.ipCategoryRules).toEqual({ tor: 'block', vpn: 'challenge' });
    expect(body.enforcementPolicy).toMatchObject({
      html: { onPending: 'pass', onChallenge: 'challenge' },
      json: { onPending: 'challenge' },
    });
  });

  test('refuses a cname of another active instance of the account', async () => {
    const { token, site } = await newAccount();
    const second = await call(token, '/sites/create', { name: 'second', settings: { domains: ['b.example'] } });
    const name = cname();
    await call(token, '/protect/instances/create', { name: 'A', cname: name, globalSiteKey: site.siteKey });
    const taken = { name: 'B', cname: name, globalSiteKey: second.body.siteKey };
    const { status, body } = await call(token, '/protect/instances/create', taken);
    expect([status, body.error.key]).toEqual([409, 'API.CONFLICT']);
    expect(body.error.details).toEqual([{ path: 'cname', message: 'is taken by an active instance' }]);
    const other = await call(token, '/protect/instances/create', { ...taken, cname: cname() });
    const moved = await call(token, '/protect/instances/update', { id: other.body.id, cname: name });
    expect([moved.status, moved.body.error.details[0].path]).toEqual([409, 'cname']);
  });

  test('with a cname that another account took first works, and each edge gets its own account’s configuration', async () => {
    const name = cname();
    const made = await Promise.all(
      ['squatter', 'owner'].map(async (label) => {
        const { token, site } = await newAccount();
        const identity = { name: label, cname: name, globalSiteKey: site.siteKey };
        const { body } = await call(token, '/protect/instances/create', identity);
        const issued = await call(token, '/protect/client-jwt/generate', {
          protectInstanceId: body.id,
          expiresInWeeks: 1,
        });
        return { id: body.id, siteKey: site.siteKey, jwt: issued.body.clientJwt };
      }),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(2);
    for (const { id, siteKey, jwt } of made) {
      const response = await send('/edge/v1/config', { headers: { authorization: `Bearer ${jwt}` } });
      expect(await response.json()).toMatchObject({ instanceId: id, siteKey });
    }
  });

  test('refuses a global site key of another active instance', async () => {
    const { token, site } = await newAccount();
    await call(token, '/protect/instances/create', { name: 'A', cname: cname(), globalSiteKey: site.siteKey });
    const { status, body } = await call(token, '/protect/instances/create', {
      name: 'B',
      cname: cname(),
      globalSiteKey: site.siteKey,
    });
    expect(status).toBe(409);
    expect(body.error.details[0].path).toBe('globalSiteKey');
  });

  test('of parallel creations with one cname exactly one succeeds', async () => {
    const { token, site } = await newAccount();
    const name = cname();
    const make = () =>
      call(token, '/protect/instances/create', { name: 'A', cname: name, globalSiteKey: site.siteKey });
    const results = await Promise.all([make(), make(), make()]);
    expect(results.map((result) => result.status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  });

  test('with the site key of another account is 404', async () => {
    const mine = await newAccount();
    const other = await newAccount();
    const { status, body } = await call(mine.token, '/protect/instances/create', {
      name: 'A',
      cname: cname(),
      globalSiteKey: other.site.siteKey,
    });
    expect(status).toBe(404);
    expect(body.error.key).toBe('GENERAL.SITE_KEY_NOT_FOUND');
  });

  test('stores hosts as a Host header spells them', async () => {
    const { token, site } = await newAccount();
    const { body } = await call(token, '/protect/instances/create', {
      name: 'Shop',
      cname: cname(),
      globalSiteKey: site.siteKey,
      hosts: ['https://Shop.Example/', 'münchen.example', '[::1]', '127.0.0.1'],
    });
    expect(body.hosts).toEqual(['shop.example', 'xn--mnchen-3ya.example', '[::1]', '127.0.0.1']);
  });

  // A host that no request can have would make the edge refuse every request.
  test('a host that is none is refused by its index', () =>
    expectRows(['*', '*.shop.example', 'shop.example/path', 'shop example', '', 'shop.example:'], async (host) => {
      const { token, site } = await newAccount();
      const identity = { name: 'Shop', cname: cname(), globalSiteKey: site.siteKey };
      const made = await call(token, '/protect/instances/create', identity);
      const expected = [expect.objectContaining({ path: 'hosts.1' })];
      for (const [path, members] of [
        ['/protect/instances/update', { id: made.body.id }],
        ['/protect/instances/create', { ...identity, cname: cname() }],
      ] as const) {
        const { status, body } = await call(token, path, { ...members, hosts: ['shop.example', host] });
        expect(status).toBe(400);
        expect(body.error.details).toEqual(expected);
      }
    }));

  test('refuses thresholds in the wrong order by name', async () => {
    const { token, site } = await newAccount();
    const { status, body } = await call(token, '/protect/instances/create', {
      name: 'A',
      cname: cname(),
      globalSiteKey: site.siteKey,
      challengeThreshold: 0.9,
    });
    expect(status).toBe(400);
    expect(body.error.details).toEqual([{ path: 'challengeThreshold', message: 'must not be above blockThreshold' }]);
  });

  test('takes the names of detectors to ignore, and refuses one that no session has', async () => {
    const { token, site } = await newAccount();
    const identity = { name: 'A', cname: cname(), globalSiteKey: site.siteKey };
    for (const ignoredDetectors of [['honeypot'], ['webdriver', 'nothing'], 'webdriver', [1]]) {
      const { status } = await call(token, '/protect/instances/create', { ...identity, ignoredDetectors });
      expect([ignoredDetectors, status]).toEqual([ignoredDetectors, 400]);
    }
    const made = await call(token, '/protect/instances/create', { ...identity, ignoredDetectors: ['webdriver'] });
    expect(made.body.ignoredDetectors).toEqual(['webdriver']);
    const { id } = made.body;
    const cleared = await call(token, '/protect/instances/update', { id, ignoredDetectors: [] });
    expect(cleared.body.ignoredDetectors).toEqual([]);
  });
});

describe('changing an instance', () => {
  test('leaves the fields that are not sent', async () => {
    const { token, site } = await newAccount();
    const created = await call(token, '/protect/instances/create', {
      name: 'A',
      cname: cname(),
      globalSiteKey: site.siteKey,
      monitor: true,
      ipCategoryRules: { tor: 'block' },
    });
    const { status, body } = await call(token, '/protect/instances/update', { id: created.body.id, rollout: 25 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'A', monitor: true, rollout: 25, ipCategoryRules: { tor: 'block' } });
    expect(body.updatedAt).toBeGreaterThanOrEqual(created.body.updatedAt);
  });

  test('keeps two parallel changes of different fields', async () => {
    const { token, site } = await newAccount();
    const created = await call(token, '/protect/instances/create', {
      name: 'A',
      cname: cname(),
      globalSiteKey: site.siteKey,
    });
    const { id } = created.body;
    const results = await Promise.all([
      call(token, '/protect/instances/update', { id, rollout: 25 }),
      call(token, '/protect/instances/update', { id, clearanceSeconds: 600 }),
      call(token, '/protect/instances/update', { id, name: 'B' }),
    ]);
    expect(results.map((result) => result.status)).toEqual([200, 200, 200]);
    const { body } = await call(token, '/protect/instances', {});
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({ name: 'B', rollout: 25, clearanceSeconds: 600 });
  });

  test('keeps a dozen parallel changes of different fields', async () => {
    const { token, site } = await newAccount();
    const identity = { name: 'A', cname: cname(), globalSiteKey: site.siteKey };
    const { id } = (await call(token, '/protect/instances/create', identity)).body;
    const changes = {
      name: 'B',
      rollout: 25,
      clearanceSeconds: 600,
      clearanceLevel: 1,
      monitor: true,
      autoInject: false,
      retentionDays: 7,
      jtiExpirySeconds: 7200,
      defaultPathType: 'json',
      challengeThreshold: 0.4,
      blockThreshold: 0.9,
      hosts: ['a.example'],
    };
    const results = await Promise.all(
      Object.entries(changes).map(([member, value]) =>
        call(token, '/protect/instances/update', { id, [member]: value }),
      ),
    );
    expect(results.map((result) => result.status)).toEqual(results.map(() => 200));
    expect((await call(token, '/protect/instances', {})).body[0]).toMatchObject(changes);
  });

  test('of another account is 404', async () => {
    const mine = await newAccount();
    const other = await newAccount();
    const created = await call(mine.token, '/protect/instances/create', {
      name: 'A',
      cname: cname(),
      globalSiteKey: mine.site.siteKey,
    });
    for (const [path, body] of [
      ['/protect/instances/update', { id: created.body.id, name: 'X' }],
      ['/protect/instances/delete', { id: created.body.id }],
      ['/protect/client-jwt/generate', { protectInstanceId: created.body.id, expiresInWeeks: 1 }],
      ['/protect/client-jwt/list', { protectInstanceId: created.body.id }],
    ] as const) {
      const answer = await call(other.token, path, body);
      expect([answer.status, answer.body]).toEqual([404, { error: 'No active protect instance found' }]);
    }
  });
});

describe('deleting an instance', () => {
  test('makes it inactive and frees its cname and site key', async () => {
    const { token, site } = await newAccount();
    const name = cname();
    const body = { name: 'A', cname: name, globalSiteKey: site.siteKey };
    const created = await call(token, '/protect/instances/create', body);
    expect((await call(token, '/protect/instances/delete', { id: created.body.id })).body).toEqual({
      success: true,
      id: created.body.id,
    });
    expect((await call(token, '/protect/instances', {})).body[0].active).toBe(false);
    expect((await call(token, '/protect/instances/create', body)).status).toBe(200);
    expect((await call(token, '/protect/instances/update', { id: created.body.id, name: 'Z' })).status).toBe(404);
  });
});
