/**
 * Where the proof of work runs when the page has another origin than the service, or forbids workers. It never needs
 * `blob:`, `eval` or WASM.
 */
import { describe, expect, test } from 'vitest';
import { useVisitor } from '../support/visitor.ts';
import { STRICT_CSP, useWidgetServer } from './widget-server.ts';

const site = useWidgetServer();
const service = useWidgetServer();
const visitor = useVisitor();

async function solve(scriptHost: string, policy: string): Promise<{ workers: string[]; violations: string[] }> {
  const workers: string[] = [];
  const violations: string[] = [];
  visitor.page.on('worker', (worker) => workers.push(worker.url()));
  visitor.page.on('console', (message) => {
    if (/violates|Refused/.test(message.text())) violations.push(message.text());
  });
  site.pages.set('/page', {
    body: `<!doctype html><html lang="en"><title>page</title><script src="${scriptHost}/__protect/widget.js" defer></script><body><gatehouse-widget sitekey="site-1" start="click"></gatehouse-widget>`,
    headers: { 'content-security-policy': policy },
  });
  await visitor.page.goto(`${site.url}/page`);
  await visitor.page.getByRole('checkbox').click();
  await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
  return { workers, violations };
}

describe('a page of another origin than the service', () => {
  const policy = () =>
    `default-src 'none'; script-src ${service.url}; connect-src ${service.url}; require-trusted-types-for 'script'`;

  test('solves in a worker, in a frame of the service', async () => {
    const { workers, violations } = await solve(service.url, `${policy()}; frame-src ${service.url}`);
    expect(workers).toEqual([expect.stringContaining(`${service.url}/__protect/pow-worker.js`)]);
    expect(violations).toEqual([]);
    expect(service.calls.map((call) => call.path)).toEqual(['challenge', 'solution']);
    expect(await visitor.page.locator('iframe').count()).toBe(0);
  });

  test('that allows no frame solves in slices on the page itself', async () => {
    const { workers } = await solve(service.url, policy());
    expect(workers).toEqual([]);
    expect(service.calls.map((call) => call.path)).toEqual(['challenge', 'solution']);
  });
});

test('a page that forbids workers solves in slices', async () => {
  const { workers } = await solve(site.url, STRICT_CSP.replace("worker-src 'self'", "worker-src 'none'"));
  expect(workers).toEqual([]);
});

test('widget and protect script share one Trusted Types policy', async () => {
  const violations: string[] = [];
  visitor.page.on('console', (message) => {
    // The protect script looks for a debugger with a message that no visitor sees.
    if (message.type() !== 'debug') violations.push(message.text());
  });
  visitor.page.on('pageerror', (error) => violations.push(String(error)));
  const both = ['protect', 'widget'].map((name) => `<script src="/__protect/${name}.js" defer></script>`).join('');
  site.pages.set('/page', {
    body: `<!doctype html><html lang="de"><title>page</title>${both}<body><gatehouse-widget sitekey="site-1" start="click"></gatehouse-widget>`,
    headers: { 'content-security-policy': `${STRICT_CSP}; trusted-types gatehouse` },
  });
  await visitor.page.goto(`${site.url}/page`);
  await visitor.page.getByRole('checkbox', { name: 'Ich bin ein Mensch' }).click();
  await visitor.page.getByRole('checkbox', { name: 'Geprüft' }).waitFor();
  expect(violations).toEqual([]);
});
