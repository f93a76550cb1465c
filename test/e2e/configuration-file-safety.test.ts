/** What a configuration file may not do on the way: show a secret, or leave visitors without the rule that lets them through. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.ts';
import { gatehouse } from '../support/gatehouse.ts';
import { manage, useStack } from '../support/stack.ts';

const stack = useStack();
const dir = mkdtempSync(join(tmpdir(), 'gatehouse-configuration-'));
const path = join(dir, 'gatehouse.yaml');
let proxy: FaultyProxy;
beforeAll(async () => {
  proxy = await startFaultyProxy(stack().serviceUrl);
});
afterAll(async () => {
  await proxy?.close();
  rmSync(dir, { recursive: true, force: true });
});

/** `sections`: of the instance localhost. */
function run(words: string[], sections: string, env: Record<string, string> = {}) {
  writeFileSync(path, `version: 1\ninstances:\n  - cname: localhost\n${sections}`);
  const key = { GATEHOUSE_API_KEY: stack().apiKey };
  return gatehouse(['--text', ...words, path, '--service', proxy.url], { env: { ...key, ...env } });
}

test.each(['s3cr3t==', 'a&s3cr3t=b'])('a variable %s that would show a part of itself is refused', async (value) => {
  const sections = '    lists: [{ name: l, url: "https://l.example/?${ENV:SHOWN}" }]';
  const { exitCode, output, errors } = await run(['plan'], sections, { SHOWN: value });
  expect([exitCode, errors]).toEqual([1, expect.stringContaining('characters that end a value')]);
  expect(output + errors).not.toContain('s3cr3t');
});

test('a rule is deleted after the policy that takes its place, and before a list changes its version', async () => {
  const rules = [{ type: 'ip', value: '9.9.9.3', verdict: 'allow' }];
  await manage(stack(), '/protect/access-rules/create', { siteKey: stack().siteKey, rules });
  proxy.calls.length = 0;
  const sections = `    rules: [{ type: ip, value: 9.9.9.4, verdict: allow }]
    policies: [{ name: moved, when: 'ip equals "9.9.9.3"', then: { action: allow } }]
    lists: [{ name: moved, url: "https://l.example/moved.txt" }]
`;
  const applied = await run(['apply', '--yes'], sections);
  expect(applied).toMatchObject({ exitCode: 0 });
  expect(proxy.calls.filter((called) => /^\/protect\/.*(?:create|set|delete)$/.test(called)).slice(0, 4)).toEqual([
    '/protect/access-rules/create',
    '/protect/policies/set',
    '/protect/access-rules/delete',
    '/protect/lists/create',
  ]);
});
