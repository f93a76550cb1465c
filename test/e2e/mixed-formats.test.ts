// A stack of its own: each mixes an edge and a service of two releases.
/**
 * A planted release has the same ruleset format under another name, in the place of the list in `src/rules/formats.ts`.
 * In either mixed order, the rules stay enforced.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Stack } from '../../src/cli/stack.ts';
import { EDGE_CONFIG } from '../../src/cli/edge-worker.ts';
import { readWranglerFile } from '../../src/cli/worker-config.ts';
import { rulesetFormats } from '../../src/rules/formats.ts';
import { browse } from '../support/browse.ts';
import { preparedBundle } from '../support/prepared-bundle.ts';
import { eventually, manage, rulesLoaded, startTestStack } from '../support/stack.ts';

type Release = readonly string[];

const THIS: Release = rulesetFormats;
const NEXT: Release = ['GHRULES4', rulesetFormats[0]];
const AFTER_NEXT: Release = ['GHRULES5', 'GHRULES4'];

const edgeEntry = readWranglerFile(EDGE_CONFIG).main;
let stateDir: string;

/** A Worker of the release: the bundle with other names of formats. */
async function bundleOf(entry: string, release: Release): Promise<string> {
  const bundle = await preparedBundle(inject('preparedBundles'), entry);
  const listed = `rulesetFormats = ${JSON.stringify(THIS)}`;
  expect(bundle.split(listed)).toHaveLength(2);
  return bundle.replace(listed, `rulesetFormats = ${JSON.stringify(release)}`);
}

/** On the state that the stack before left. */
const startMixed = (edge: Release, service: Release): Promise<Stack> =>
  startTestStack({ stateDir, bundle: (entry) => bundleOf(entry, entry === edgeEntry ? edge : service) });

const block = (stack: Stack, userAgent: string) =>
  manage(stack, '/protect/access-rules/create', { rules: [{ type: 'userAgent', value: userAgent, verdict: 'block' }] });

const statusFor = async ({ edgeUrl }: Stack, userAgent: string): Promise<number> =>
  (await browse(edgeUrl, { headers: { 'user-agent': userAgent } })).status;

/** State of this release, with a rule that its edge enforced and has in KV. */
beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-mixed-'));
  const stack = await startMixed(THIS, THIS);
  await block(stack, 'oldbot');
  await eventually(
    () => statusFor(stack, 'oldbot/1'),
    (status) => status === 403,
  );
  await stack.runScheduled();
  await stack.stop();
});
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

test.each([
  ['an edge of this release with a service of the next one', THIS, NEXT],
  ['an edge of the next release with a service of this one', NEXT, THIS],
])('%s enforces old rules and new ones, in new isolates too', async (_, edge, service) => {
  const stack = await startMixed(edge, service);
  try {
    await rulesLoaded(stack);
    expect(await statusFor(stack, 'oldbot/1')).toBe(403);
    await block(stack, 'newbot');
    await eventually(
      () => statusFor(stack, 'newbot/1'),
      (status) => status === 403,
    );
    await stack.restartEdge();
    expect([await statusFor(stack, 'oldbot/1'), await statusFor(stack, 'newbot/1')]).toEqual([403, 403]);
  } finally {
    await stack.stop();
  }
});

test('an edge whose formats the service no longer writes goes on with the last rules that it could read', async () => {
  const stack = await startMixed(THIS, AFTER_NEXT);
  try {
    expect(await statusFor(stack, 'oldbot/1')).toBe(403);
    await stack.restartEdge();
    expect(await statusFor(stack, 'oldbot/1')).toBe(403);
  } finally {
    await stack.stop();
  }
});
