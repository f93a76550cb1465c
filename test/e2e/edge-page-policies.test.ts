/** Pages whose own Content-Security-Policy decides whether the protect script can open a session, on workerd itself. */
import { expect, test } from 'vitest';
import { type PolicyObstacle, policyRemedies } from '../../src/edge/origin/page-policy.ts';
import { eventually } from '../support/eventually.ts';
import { expectRows } from '../support/rows.ts';
import { call, edgeUrl, originAnswers, upstream, useEdgeBeforeOrigin } from './edge-before-origin.ts';

const PAGE = '<!doctype html><html><head></head><body>text</body></html>';

useEdgeBeforeOrigin({ autoInject: true });

const counted = (reason: string) => upstream.counters[`scripts_not_injected{reason="${reason}"}`] ?? 0;
const pageUnder = async (policy: string, path = '/') => {
  originAnswers({ headers: { 'content-security-policy': policy, etag: '"v1"' }, pieces: [PAGE] });
  return call({ host: 'www.shop.test' }, 'GET', path);
};
async function warnings(): Promise<string[]> {
  const health = await fetch(`${edgeUrl}/__protect/health`, {
    headers: { authorization: 'Bearer a-token-of-the-operators' },
  });
  return ((await health.json()) as { warnings: string[] }).warnings;
}

test('a page under whose policy no session can open passes untouched, is counted, and health says what to add', () =>
  expectRows<[PolicyObstacle, string]>(
    [
      ['script-src', "script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"],
      ['script-src', "default-src 'none'; connect-src 'self'"],
      ['script-src', "script-src 'self' 'strict-dynamic' 'sha256-a'"],
      ['script-src', 'script-src https://cdn.test https://www.shop.test/static/'],
      ['script-src', "script-src 'self'; script-src-elem 'none'"],
      ['script-src', "script-src 'self', script-src 'nonce-a'; connect-src https:, script-src 'nonce-b'"],
      ['connect-src', "connect-src 'none'"],
      ['connect-src', "default-src 'none'; script-src 'nonce-abc'"],
      ['connect-src', 'CONNECT-SRC https://api.shop.test; connect-src *'],
      ['trusted-types', "require-trusted-types-for 'script'; trusted-types mine"],
      ['trusted-types', "require-trusted-types-for 'script', trusted-types 'none'"],
      ['sandbox', 'sandbox allow-scripts allow-forms'],
      ['sandbox', 'sandbox'],
    ],
    async ([reason, policy]) => {
      const before = counted(reason);
      const { body, headers } = await pageUnder(policy, `/${reason}`);
      expect([body.toString(), headers.etag]).toEqual([PAGE, '"v1"']);
      await eventually(
        () => Promise.resolve(counted(reason)),
        (count) => count > before,
      );
      expect(await warnings()).toContain(
        `Pages such as /${reason} open no session: add ${policyRemedies[reason]} to ${reason} of their Content-Security-Policy.`,
      );
    },
  ));

test('a page under whose policy a session can open gets the script', () =>
  expectRows(
    [
      "default-src 'self'",
      "default-src 'none'; script-src 'nonce-abc'; connect-src 'self'",
      "script-src 'strict-dynamic' 'nonce-abc' https:",
      'script-src *.shop.test; connect-src https://WWW.shop.test:8443/',
      'script-src https:',
      "worker-src 'none'",
      "require-trusted-types-for 'script'",
      "require-trusted-types-for 'script'; trusted-types mine gatehouse",
      'trusted-types mine',
      'sandbox allow-same-origin allow-scripts',
      'img-src https://a.test/x; frame-ancestors *; report-uri /csp',
    ],
    async (policy) => {
      const nonce = policy.includes('nonce-') ? ' nonce="abc"' : '';
      expect((await pageUnder(policy)).body.toString()).toMatch(
        new RegExp(`<head><script src="/__protect/protect\\.js\\?v=[0-9a-f]+"${nonce} async></script></head>`),
      );
    },
  ));
