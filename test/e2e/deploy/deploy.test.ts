/** What `npm run deploy` does on an account: from nothing, again, for a second site, and with lost or foreign files. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uploadWithWrangler } from '../../../src/cli/deploy/wrangler.ts';
import { randomToken } from '../../../src/store/keys/master-key.ts';
import { inventory, keptKey, keyFileOf, oneSite, rows } from '../../support/platform/inventory.ts';
import { Operator, type Run } from '../../support/platform/operator.ts';

const DEPLOY = ['--site', 'www.example.com'];
let operator: Operator;

beforeEach(async () => {
  operator = new Operator();
  await operator.start();
});
afterEach(() => operator.stop());

async function deployed(words: readonly string[] = DEPLOY, env: Record<string, string> = {}): Promise<string> {
  const { code, output, error } = await operator.run(words, env);
  expect([code, error]).toEqual([0, '']);
  return output;
}

/** Uploads, and everything that is created: all writes but queries. */
const creations = (): number => operator.platform.writes().filter(({ path }) => !path.endsWith('/query')).length;

test('a second run finds everything and creates nothing', async () => {
  await deployed();
  const [made, whole] = [creations(), await inventory(operator)];
  const output = await deployed();
  expect(creations()).toBe(made);
  expect(await inventory(operator)).toEqual(whole);
  expect(output.match(/^\[.*: (?:created|deployed|\d+ migrations)/gm)).toBeNull();
});

test('the plan of --dry-run names what will be made, and nothing is written, on the platform or on disk', async () => {
  const output = await deployed([...DEPLOY, '--dry-run']);
  expect(operator.platform.writes()).toEqual([]);
  expect(keptKey(operator)).toBeNull();
  expect(output.match(/^ {2}create/gm)).toHaveLength(12);
  await deployed();
  const writes = operator.platform.writes().length;
  const again = await deployed([...DEPLOY, '--dry-run']);
  expect(again.match(/^ {2}keep/gm)).toHaveLength(12);
  expect(operator.platform.writes()).toHaveLength(writes);
});

test('--dry-run without a login prints what would be looked up and made, and calls nothing', async () => {
  const output = await deployed([...DEPLOY, '--dry-run'], { CLOUDFLARE_API_TOKEN: '' });
  expect(output).toContain('You are not logged in to Cloudflare, so nothing is looked up at your account.');
  expect(output).toMatch(/^ {2}look up .* the ZONE of www\.example\.com, its ACCOUNT/m);
  expect(output.match(/^ {2}find or create/gm)).toHaveLength(12);
  expect(output).toContain('Worker gatehouse-edge-www-example-com');
  expect(output).toContain('route www.example.com/*');
  expect(operator.platform.calls).toEqual([]);
  expect(keptKey(operator)).toBeNull();
});

test('a second site gets a gate of its own on the same service', async () => {
  await deployed();
  const output = await deployed(['--site', 'shop.example.com']);
  expect(output).toContain('Service Worker gatehouse-service: found');
  expect(await inventory(operator)).toEqual({
    ...oneSite,
    sites: ['shop-example-com', ...oneSite.sites],
    instances: ['shop.example.com monitor=1', ...oneSite.instances],
    credentials: 2,
    edges: ['shop.example.com', 'www.example.com'],
    workers: [...oneSite.workers, ['gatehouse-edge-shop-example-com', ['CLIENT_JWT']]],
    routes: [...oneSite.routes, ['shop.example.com/*', 'gatehouse-edge-shop-example-com']],
  });
});

test.each(['*.b.example.com', '*.example.com'])('a site is found under the proxied record %s', async (name) => {
  operator.platform.state.zones[0]!.records = [{ type: 'A', name, proxied: true }];
  await deployed(['--site', 'a.b.example.com']);
});

test('no tracked file changes', async () => {
  const tracked = () => execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], { encoding: 'utf8' });
  const before = tracked();
  await deployed();
  expect(tracked()).toBe(before);
});

test('without its files, a run on another machine finds the deployment by itself, with the key from the environment', async () => {
  await deployed();
  const [made, whole, key] = [creations(), await inventory(operator), keptKey(operator)!];
  const file = keyFileOf(operator);
  rmSync(operator.home, { recursive: true });
  await deployed(DEPLOY, { MASTER_KEY: key });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  expect(creations()).toBe(made);
  expect(await inventory(operator)).toEqual(whole);
});

test('an instance that enforces already stays as it is', async () => {
  await deployed();
  await rows(operator, `UPDATE protect_instances SET policy = json_set(policy, '$.monitor', json('false'))`);
  expect(await deployed()).toContain('Site www.example.com: found, enforcing');
  expect(await rows(operator, `SELECT json_extract(policy, '$.monitor') AS monitor FROM protect_instances`)).toEqual([
    { monitor: 0 },
  ]);
});

test('a credential that was revoked is replaced, and the edge runs with the new one', async () => {
  await deployed();
  const before = operator.platform.account.scripts.get('gatehouse-edge-www-example-com')!.secrets.get('CLIENT_JWT');
  await rows(operator, 'UPDATE client_jwts SET revoked_at = 1');
  await deployed();
  expect(operator.platform.account.scripts.get('gatehouse-edge-www-example-com')!.secrets.get('CLIENT_JWT')).not.toBe(
    before,
  );
  expect(await inventory(operator)).toEqual(oneSite);
});

describe('a site of another account than the login’s', () => {
  const addOther = async () => {
    await rows(
      operator,
      `INSERT INTO accounts (id, owner_email, tier, features, created_at, updated_at)
       SELECT 'acc_2', 'second@example.com', tier, features, 1, 1 FROM accounts`,
    );
    await rows(
      operator,
      `INSERT INTO users (account_id, email, name, role, status, created_at, updated_at)
       VALUES ('acc_2', 'second@example.com', 'Second', 'admin', 'active', 1, 1)`,
    );
  };

  test('stays in its account with its instance', async () => {
    await deployed();
    await addOther();
    const [made, before] = [creations(), await inventory(operator)];
    operator.platform.state.email = 'second@example.com';
    expect(await deployed()).toContain('Account of owner@example.com: found');
    expect(creations()).toBe(made);
    expect(await inventory(operator)).toEqual(before);
  });

  test('is refused to the owner who is named, and its gate stays', async () => {
    await deployed();
    await addOther();
    const before = await inventory(operator);
    const { code, error } = await operator.run([...DEPLOY, '--email', 'second@example.com']);
    expect([code, error]).toEqual([
      1,
      expect.stringMatching(
        /^The gate of www\.example\.com belongs to the account of owner@example\.com\. Leave --email /,
      ),
    ]);
    expect(await inventory(operator)).toEqual(before);
  });

  test('gets a new instance after its own has ended, and the credential of the old one is revoked', async () => {
    await deployed();
    await addOther();
    await rows(operator, 'UPDATE protect_instances SET active = 0');
    await deployed([...DEPLOY, '--email', 'second@example.com']);
    expect(await inventory(operator)).toMatchObject({ credentials: 1, instances: oneSite.instances });
  });
});

test('a queue that keeps messages for less than two weeks is corrected', async () => {
  operator.platform.account.queues.push({
    queue_id: 'q1',
    queue_name: 'gatehouse-verdicts',
    settings: { message_retention_period: 345_600 },
    consumers: [],
    producers: [],
  });
  await deployed();
  expect(await inventory(operator)).toEqual(oneSite);
});

test('of two deployers at once one deploys, and the other is told to wait', async () => {
  const upload = operator.upload;
  let second: Run | undefined;
  operator.upload = async (worker) => {
    second ??= await operator.run(['--site', 'shop.example.com']);
    await upload(worker);
  };
  await deployed();
  expect(second).toMatchObject({ code: 1 });
  expect(second?.error).toMatch(
    /^Another deployment is running \(owner@example\.com on .*\)\. Wait until it has ended, .*, and run the command again\.$/,
  );
  expect(await inventory(operator)).toEqual(oneSite);
});

test('two deployers that begin in the same moment make everything once', async () => {
  const both = await Promise.all([operator.run(DEPLOY), operator.run(DEPLOY)]);
  expect(both.some(({ code }) => code === 0)).toBe(true);
  for (const { error } of both) expect(error).toMatch(/^(?:|Another deployment is running .*)$/);
  expect(await inventory(operator)).toEqual(oneSite);
});

test('a service that wrangler refuses is reported with the reason of the platform', async () => {
  operator.upload = uploadWithWrangler;
  operator.platform.forbidden = /^PUT .*\/scripts\/gatehouse-service$/;
  const { code, error } = await operator.run(DEPLOY);
  expect(code).toBe(1);
  expect(error).toMatch(
    /^wrangler could not deploy gatehouse-service: .*Authentication error.* run the command again\.$/,
  );
});

describe('the master key', () => {
  test('is refused where it is not the deployment’s, and nothing changes', async () => {
    await deployed();
    const writes = operator.platform.writes().length;
    for (const [env, file] of [
      [{ MASTER_KEY: randomToken(32) }, null],
      [{}, randomToken(32)],
      [{}, 'not a key'],
    ] as const) {
      const words = file === null ? DEPLOY : [...DEPLOY, '--master-key-file', join(operator.home, 'other')];
      if (file !== null) writeFileSync(join(operator.home, 'other'), file, { mode: 0o600 });
      const { code, error } = await operator.run(words, env);
      expect(code).toBe(1);
      expect(error).toMatch(/^(?:The deployment exists with another master key|The master key in .* is not 32 bytes)/);
    }
    expect(operator.platform.writes()).toHaveLength(writes);
  });

  test('that is lost is named, and no other one is made', async () => {
    await deployed();
    rmSync(keyFileOf(operator));
    const { code, error } = await operator.run(DEPLOY);
    expect(code).toBe(1);
    expect(error).toContain(`its master key is not in ${keyFileOf(operator)}.`);
    expect(keptKey(operator)).toBeNull();
  });

  test('that others may read is refused, with the command that corrects it', async () => {
    await deployed();
    chmodSync(keyFileOf(operator), 0o644);
    const { code, error } = await operator.run(DEPLOY);
    expect([code, error]).toEqual([1, expect.stringContaining(`"chmod 600 ${keyFileOf(operator)}"`)]);
  });

  test('is kept in the home directory where XDG_CONFIG_HOME is relative, and never in the checkout', async () => {
    const inCheckout = '.gatehouse-test-config';
    try {
      await deployed(DEPLOY, { XDG_CONFIG_HOME: inCheckout });
      expect([existsSync(inCheckout), keptKey(operator)]).toEqual([false, expect.any(String)]);
    } finally {
      rmSync(inCheckout, { recursive: true, force: true });
    }
  });

  test('is kept where the operator says, and found there again', async () => {
    const file = join(operator.home, 'vault/gatehouse.key');
    await deployed([...DEPLOY, '--master-key-file', file]);
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]{43}\n$/);
    expect(keptKey(operator)).toBeNull();
    await deployed();
    expect(keptKey(operator)).toBeNull();
  });
});
