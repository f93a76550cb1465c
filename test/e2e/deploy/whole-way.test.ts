/**
 * One command, the whole way: wrangler itself bundles and uploads both Workers to the stand-in, which runs them on workerd.
 * The proof at the end is a real request through the uploaded edge, and its verdict in the log of the uploaded service.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Upload, uploadWithWrangler } from '../../../src/cli/deploy/wrangler.ts';
import { eventually } from '../../support/eventually.ts';
import { inventory, keptKey, oneSite } from '../../support/platform/inventory.ts';
import { Operator, type Run } from '../../support/platform/operator.ts';
import { TOKEN } from '../../support/platform/platform.ts';
import { RunningWorkers } from '../../support/platform/running-workers.ts';

const SITE = 'https://www.example.com/';
const operator = new Operator();
const workers = new RunningWorkers(operator.platform);
/** Arguments of every process that ran beside an upload, and what its secrets' file was. */
const seen = { commandLines: new Set<string>(), secretFiles: new Map<string, string>() };
let deployed: Run;

beforeAll(async () => {
  await operator.start();
  operator.hosts = workers.hosts;
  operator.pauseMs = 100;
  operator.upload = watched;
  deployed = await operator.run(['--site', 'www.example.com']);
});
afterAll(async () => {
  await workers.stop();
  await operator.stop();
});

async function watched(upload: Upload): Promise<void> {
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) noteProcess(pid);
  }, 20);
  await uploadWithWrangler(upload).finally(() => clearInterval(timer));
}

function noteProcess(pid: string): void {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    seen.commandLines.add(words.join(' '));
    const file = words[words.indexOf('--secrets-file') + 1];
    // Other tests deploy at the same time.
    const isOwn = readFileSync(`/proc/${pid}/status`, 'utf8').includes(`\nPPid:\t${process.pid}\n`);
    if (isOwn && words.includes('--secrets-file') && file !== undefined)
      seen.secretFiles.set(file, (statSync(file).mode & 0o777).toString(8));
  } catch {
    // The process has ended in the meantime.
  }
}

test('one command without a copied value leads from a login to a verdict in the log', async () => {
  expect(deployed.error).toBe('');
  const reference = /is in the log as ([\w-]{36})$/m.exec(deployed.output)?.[1];
  expect(reference).toBeDefined();
  expect(deployed.output).toMatch(
    /^Console, for owner@example\.com, .*https:\/\/gatehouse\.example\.com\/console#link=[\w-]{43}$/m,
  );
  expect(deployed.output).toMatch(/^To enforce: npm run deploy -- enforce --site www\.example\.com$/m);
  expect(await inventory(operator)).toEqual(oneSite);
});

test('the page for operators shows what the command prints', () => {
  const page = readFileSync('docs/operations.md', 'utf8');
  const shown = /<!-- transcript of a deployment -->\s+```text\n([^]*?)```/.exec(page)?.[1];
  const printed = deployed.output
    .replaceAll(operator.home, '/home/you')
    .replaceAll('acc1', 'ACCOUNT')
    .replace(/\d+ migrations/, 'N migrations')
    .replace(/in the log as [\w-]{36}/, 'in the log as REFERENCE')
    .replace(/#link=[\w-]+/, '#link=TOKEN');
  expect(shown).toBe(`${printed}\n`);
});

test('secrets reach wrangler in files that only their owner reads, and that are gone afterwards', () => {
  const secrets = [
    TOKEN,
    keptKey(operator)!,
    [...operator.platform.account.scripts.values()][1]!.secrets.get('CLIENT_JWT')!,
  ];
  expect([...seen.secretFiles.values()]).toEqual(['600', '600']);
  expect([...seen.secretFiles.keys()].filter((path) => existsSync(path))).toEqual([]);
  for (const secret of secrets) expect([...seen.commandLines].filter((line) => line.includes(secret))).toEqual([]);
  for (const secret of secrets) expect(deployed.output).not.toContain(secret);
});

test('a run after it uploads nothing again', async () => {
  const uploads = operator.platform
    .writes()
    .filter(({ method, path }) => method === 'PUT' && /scripts\/[^/]+$/.test(path));
  expect((await operator.run(['--site', 'www.example.com'])).code).toBe(0);
  const after = operator.platform
    .writes()
    .filter(({ method, path }) => method === 'PUT' && /scripts\/[^/]+$/.test(path));
  expect([uploads.length, after.length]).toEqual([2, 2]);
});

test('a visitor reaches the site until one line enforces, and again after the line back', async () => {
  const statusOf = async (): Promise<number> => {
    const response = await workers.hosts(new URL(SITE), { headers: { 'user-agent': 'curl/8.14.1' } });
    return response!.status;
  };
  expect(await statusOf()).toBe(200);
  const enforced = await operator.run(['enforce', '--site', 'www.example.com']);
  expect([enforced.code, enforced.error]).toEqual([0, '']);
  await eventually(statusOf, (status) => status === 403);
  expect((await operator.run(['monitor', '--site', 'www.example.com'])).code).toBe(0);
  await eventually(statusOf, (status) => status === 200);
});
