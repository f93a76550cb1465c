/**
 * The script that finds out about its browser, in a real one: under the strictest policy, where no worker may run, and
 * without a trace in the page afterwards.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environmentReport, type EnvironmentReport } from '../../src/contract/edge/page-reports.ts';
import type { Probes } from '../../src/contract/edge/probes.ts';
import { askProbes, hasWrongAnswers } from '../../src/risk/probes/ask-probes.ts';
import { clientAssets } from '../../src/widget/bundle.generated.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';

const STRICT =
  "default-src 'none'; img-src data:; script-src 'self'; worker-src 'self'; frame-src 'none'; require-trusted-types-for 'script'";
const LOADS = 20;
const visitor = useVisitor({
  context: { userAgent: USER_AGENT, locale: 'en-US' },
  isSilent: true,
  // The browser says what the policy forbade.
  expected: (message) => message.text().includes('worker-src'),
});
type Collect = (worker: string, asked: Promise<Probes | undefined>) => Promise<EnvironmentReport>;

let server: Server;
let origin = '';

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    const script = clientAssets[url.slice(1)];
    if (script !== undefined) return response.setHeader('content-type', 'text/javascript').end(script.body);
    response.setHeader('content-type', 'text/html');
    const policy = url === '/workerless' ? STRICT.replace("worker-src 'self'", "worker-src 'none'") : STRICT;
    response.setHeader('content-security-policy', policy);
    return response.end(
      '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>page</title><script src="/environment.js"></script>',
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

async function reportOf(path: string, probes?: Probes): Promise<EnvironmentReport> {
  await visitor.page.goto(origin + path);
  return visitor.page.evaluate(
    (questions) => {
      const asked = questions === null ? undefined : (JSON.parse(questions) as Probes);
      const exports = globalThis as unknown as Record<symbol, Collect>;
      // A policy of the page's own, because this call does not come from the protect script.
      const types = (
        globalThis as unknown as {
          trustedTypes: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } };
        }
      ).trustedTypes;
      const policy = types.createPolicy('test', { createScriptURL: (url: string) => url });
      return exports[Symbol.for('gatehouse.environment')]!(
        policy.createScriptURL('/environment.js'),
        Promise.resolve(asked),
      );
    },
    probes === undefined ? null : JSON.stringify(probes),
  );
}

test('a page under the strictest policy reports what fits the schema, and its console stays empty', async () => {
  const report = await reportOf('/');
  expect(environmentReport.safeParse(report).error).toBeUndefined();
  expect(report).toMatchObject({ engine: 'v8', system: 'linux', userAgent: USER_AGENT });
  expect(report.marks).toEqual(expect.arrayContaining(['hints', 'chromium-css']));
  expect(report.features).toBeGreaterThan(0);
  expect(report.signs).toEqual(expect.arrayContaining(['no-scrollbars']));
});

test('a page that is told another number of cores and languages reports the difference to its worker', async () => {
  await visitor.page.addInitScript(() => {
    const own = Object.getOwnPropertyDescriptor(Navigator.prototype, 'hardwareConcurrency')!;
    // oxlint-disable-next-line typescript/unbound-method -- the proxy passes its object on
    const get = new Proxy(own.get!, { apply: () => 64 });
    Object.defineProperty(Navigator.prototype, 'hardwareConcurrency', { ...own, get });
    Object.defineProperty(Navigator.prototype, 'platform', { get: () => 'Win32' });
  });
  const { signs, system } = await reportOf('/');
  expect(system).toBe('windows');
  const expected = ['worker-cores', 'worker-platform', 'proxied-native', 'false-getter'];
  expect(signs).toEqual(expect.arrayContaining(expected));
});

test('a page answers what it is asked, right in every load and under the strictest policy', async () => {
  for (let load = 0; load < LOADS; load++) {
    const { probes, key } = askProbes(USER_AGENT, load);
    const report = await reportOf('/workerless', probes);
    expect(environmentReport.safeParse(report).error).toBeUndefined();
    expect([report.answers?.length, hasWrongAnswers(key, report)]).toEqual([probes.questions.length, false]);
  }
});

test('what a site replaced in its own page changes no answer', async () => {
  await visitor.page.addInitScript(() => {
    if (window !== window.top) return;
    Date.UTC = () => 0;
    Math.fround = () => 0;
  });
  for (let load = 0; load < LOADS; load++) {
    const { probes, key } = askProbes(USER_AGENT, load);
    expect(hasWrongAnswers(key, await reportOf('/', probes))).toBe(false);
  }
});

test('where no worker may run, nothing is compared with one', async () => {
  const { renderer, signs } = await reportOf('/workerless');
  expect(renderer).toBeNull();
  expect(signs.filter((sign) => sign.startsWith('worker-'))).toEqual([]);
});

test('the page is as it was before', async () => {
  await reportOf('/');
  const found = await visitor.page.evaluate(() => {
    // oxlint-disable-next-line typescript/unbound-method -- examined, not called
    const getter = Object.getOwnPropertyDescriptor(Navigator.prototype, 'webdriver')!.get!;
    const isWhole = Object.getPrototypeOf(getter) === Function.prototype;
    return [isWhole, document.querySelectorAll('iframe, div').length, 'prepareStackTrace' in Error];
  });
  expect(found).toEqual([true, 0, false]);
});
