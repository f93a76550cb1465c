/** The service of the platform's button and a deployment of this command in one account: they share database and key. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BUTTON_CONFIG } from '../../../src/cli/deploy/build.ts';
import type { Upload } from '../../../src/cli/deploy/wrangler.ts';
import { OperatorError } from '../../../src/cli/failure.ts';
import { randomToken } from '../../../src/store/keys/master-key.ts';
import { keptKey, rows } from '../../support/platform/inventory.ts';
import { Operator } from '../../support/platform/operator.ts';

const DEPLOY = ['--site', 'www.example.com'];
const BUILD = { WORKERS_CI: '1', CLOUDFLARE_ACCOUNT_ID: 'acc1' };
let operator: Operator;

beforeEach(async () => {
  operator = new Operator();
  await operator.start();
});
afterEach(() => operator.stop());

/** A build whose upload is only noted: the stand-in for wrangler reads generated files. */
async function built(): Promise<Upload[]> {
  const uploads: Upload[] = [];
  const { upload } = operator;
  operator.upload = (one) => {
    uploads.push(one);
    return Promise.resolve();
  };
  const { code, error } = await operator.run([], BUILD);
  operator.upload = upload;
  expect([code, error]).toEqual([0, '']);
  return uploads;
}

describe('a deployment after the button', () => {
  const typedIn = randomToken(32);

  beforeEach(async () => {
    await built();
    operator.platform.account.scripts.set('gatehouse-service', {
      modules: new Map(),
      metadata: { main_module: 'index.js' },
      secrets: new Map([['MASTER_KEY', typedIn]]),
      schedules: [],
      uploads: 1,
    });
  });

  test('without its master key is refused, and makes no second key', async () => {
    const writes = operator.platform.writes().length;
    const { code, error } = await operator.run(DEPLOY);
    expect(code).toBe(1);
    expect(error).toMatch(/^The Worker gatehouse-service has a master key already, .* Set the variable MASTER_KEY /);
    expect(keptKey(operator)).toBeNull();
    expect(operator.platform.writes()).toHaveLength(writes);
  });

  test('gives the Worker the key that seals the database, also after an interruption', async () => {
    const other = randomToken(32);
    const { upload } = operator;
    operator.upload = () => Promise.reject(new OperatorError('interrupted'));
    await operator.run(DEPLOY, { MASTER_KEY: other });
    operator.upload = upload;
    const { code, error } = await operator.run(DEPLOY, { MASTER_KEY: other });
    expect([code, error]).toEqual([0, '']);
    expect(operator.platform.account.scripts.get('gatehouse-service')?.secrets.get('MASTER_KEY')).toBe(other);
  });
});

describe('a build after a deployment', () => {
  beforeEach(async () => {
    expect((await operator.run(DEPLOY)).error).toBe('');
  });

  test("keeps the service's address, which the credentials of the gates name", async () => {
    const uploads = await built();
    expect(uploads.map(({ worker, vars }) => [worker.path, vars])).toEqual([
      [BUTTON_CONFIG, { SERVICE_URL: 'https://gatehouse.example.com' }],
    ]);
  });

  test('makes the next deployment upload its own configuration, and releases its lease', async () => {
    await built();
    expect(await rows(operator, 'SELECT service_print AS print, held_until AS until FROM deployment')).toEqual([
      { print: null, until: 0 },
    ]);
    expect((await operator.run(DEPLOY)).output).toContain('Service Worker gatehouse-service: deployed');
  });

  test('waits for no running deployment, but is refused', async () => {
    await rows(operator, `UPDATE deployment SET holder = 'somebody', held_until = unixepoch() + 60`);
    const { code, error } = await operator.run([], BUILD);
    expect(code).toBe(1);
    expect(error).toMatch(/^Another deployment is running \(somebody\)\./);
  });
});
