/** What the platform's deploy button reads: `wrangler.json`, `.dev.vars.example` and the descriptions in package.json. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BUTTON_CONFIG } from '../../../src/cli/deploy/build.ts';
import { EDGE_CONFIG } from '../../../src/cli/edge-worker.ts';
import { SERVICE_CONFIG } from '../../../src/cli/service-worker.ts';
import { uploadWithWrangler } from '../../../src/cli/deploy/wrangler.ts';
import { parseWranglerFile } from '../../../src/cli/worker-config.ts';
import { Operator } from '../../support/platform/operator.ts';
import { expectRows } from '../../support/rows.ts';

interface Config {
  name: string;
  main: string;
  assets: { directory: string };
  vars: Record<string, string>;
  secrets: { required: string[] };
  d1_databases: { binding: string }[];
  r2_buckets: { binding: string }[];
}

const button = JSON.parse(readFileSync(BUTTON_CONFIG, 'utf8')) as Config;
const secrets = readFileSync('.dev.vars.example', 'utf8').split('\n');
let operator: Operator;

beforeEach(async () => {
  operator = new Operator();
  await operator.start();
});
afterEach(() => operator.stop());

test('the configuration is that of the service, reachable without a domain', () => {
  const { $schema: _, ...config } = button as Config & { $schema: string };
  expect(config).toEqual({ ...parseWranglerFile(SERVICE_CONFIG), workers_dev: true });
});

test('no configuration has an id of a resource: the platform makes what is missing, by its name', () =>
  expectRows([BUTTON_CONFIG, SERVICE_CONFIG, EDGE_CONFIG, 'src/edge/wrangler.any-service.toml'], (path) => {
    expect(readFileSync(path, 'utf8')).not.toMatch(/^\s*"?(?:database_id|id|account_id|zone_id)"?\s*[:=]/m);
  }));

test('the example of secrets has names only, and asks for what the service requires', () => {
  const asked = secrets.filter((line) => line !== '' && !line.startsWith('#'));
  expect(asked).toEqual(button.secrets.required.map((name) => `${name}=`));
  const others = secrets.flatMap((line) => /^# ([A-Z_]+)=(.*)$/.exec(line)?.slice(1) ?? []);
  expect(others.filter((_, at) => at % 2 === 1).join('')).toBe('');
});

test('every secret, variable and store that the button shows has a description', () => {
  const { cloudflare } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    cloudflare: { bindings: Record<string, { description: string }> };
  };
  const shown = [
    ...button.secrets.required,
    ...Object.keys(button.vars),
    ...[...button.d1_databases, ...button.r2_buckets].map(({ binding }) => binding),
  ];
  expect(Object.keys(cloudflare.bindings)).toEqual(shown);
  for (const { description } of Object.values(cloudflare.bindings)) expect(description).toMatch(/\.$/);
});

test('a build of the platform makes queues and tables, and deploys the service alone', async () => {
  operator.platform.account.scripts.set('gatehouse-service', {
    modules: new Map(),
    metadata: { main_module: 'index.js' },
    // Typed into the button's form.
    secrets: new Map([['MASTER_KEY', 'secret']]),
    schedules: [],
    uploads: 0,
  });
  const uploaded: string[] = [];
  operator.upload = ({ worker, secrets: sent }) => {
    uploaded.push(`${worker.path} ${Object.keys(sent).length}`);
    return Promise.resolve();
  };
  const { code, error, output } = await operator.run([], { WORKERS_CI: '1', CLOUDFLARE_ACCOUNT_ID: 'acc1' });
  expect([code, error, uploaded]).toEqual([0, '', [`${BUTTON_CONFIG} 0`]]);
  expect(output).toContain('migrations applied');
  expect(operator.platform.account.queues.map(({ queue_name: name }) => name)).toHaveLength(2);
});

test('wrangler accepts the configuration, and makes the database and the buckets by their names', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-button-'));
  try {
    for (const queue_name of ['gatehouse-verdicts', 'gatehouse-verdicts-dead'])
      operator.platform.account.queues.push({
        queue_id: queue_name,
        queue_name,
        settings: {},
        consumers: [],
        producers: [],
      });
    // Wrangler writes the ids into its file, as it does in the repository that the button makes.
    const path = join(folder, 'wrangler.json');
    const fromHere = (file: string) => relative(folder, resolve(file));
    const { $schema: _, ...config } = button as Config & { $schema?: string };
    const copy = {
      ...config,
      main: fromHere(config.main),
      assets: { ...config.assets, directory: fromHere(config.assets.directory) },
    };
    writeFileSync(path, JSON.stringify(copy));
    operator.upload = () =>
      uploadWithWrangler({
        worker: { name: config.name, path, print: '' },
        accountId: 'acc1',
        secrets: { MASTER_KEY: 'secret' },
      });
    const { code, error } = await operator.run([], { WORKERS_CI: '1', CLOUDFLARE_ACCOUNT_ID: 'acc1' });
    expect([code, error]).toEqual([0, '']);
    const { databases, buckets, scripts } = operator.platform.account;
    expect(databases.map(({ name }) => name)).toEqual(['gatehouse']);
    expect([...buckets.keys()].toSorted()).toEqual(['gatehouse-rulesets', 'gatehouse-segments']);
    expect(scripts.get('gatehouse-service')?.uploads).toBe(1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
