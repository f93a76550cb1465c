// A stack of its own: each mixes an edge and a service of two releases.
/**
 * A planted release has the same formats under other names, in the place of the lists in `src/contract/edge/formats.ts`.
 * In either mixed order, rules, bots and configuration stay in force, and what changes in them arrives.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Stack } from '../../src/cli/stack.ts';
import { EDGE_CONFIG } from '../../src/cli/edge-worker.ts';
import { readWranglerFile } from '../../src/cli/worker-config.ts';
import { botTableFormats, configFormats, rulesetFormats } from '../../src/contract/edge/formats.ts';
import { browse } from '../support/browse.ts';
import { preparedBundle } from '../support/prepared-bundle.ts';
import { eventually, manage, rulesLoaded, startTestStack } from '../support/stack.ts';

/** Texts of a bundle, and what a release has in their place. */
type Release = readonly (readonly [text: string, replacement: string])[];

const [RULES] = rulesetFormats;
const [BOTS] = botTableFormats;
const [CONFIG] = configFormats;

const named = (rules: readonly string[], bots: readonly string[], config: readonly string[]): Release => [
  [`rulesetFormats = ${JSON.stringify(rulesetFormats)}`, `rulesetFormats = ${JSON.stringify(rules)}`],
  [`botTableFormats = ${JSON.stringify(botTableFormats)}`, `botTableFormats = ${JSON.stringify(bots)}`],
  [`configFormats = ${JSON.stringify(configFormats)}`, `configFormats = ${JSON.stringify(config)}`],
];

const THIS: Release = [];
const NEXT = named(['GHRULES4', RULES], ['GHBOTS03/GHRULES4', BOTS], ['GHCONFIG2', CONFIG]);
const AFTER_NEXT = named(['GHRULES5', 'GHRULES4'], ['GHBOTS04/GHRULES5', 'GHBOTS03/GHRULES4'], ['GHCONFIG3']);
/** Reads the same formats, and knows one word less of them. */
const WITHOUT_A_WORD: Release = [['"charge", "inherit"]', '"inherit"]']];

const edgeEntry = readWranglerFile(EDGE_CONFIG).main;
let stateDir: string;

async function bundleOf(entry: string, release: Release): Promise<string> {
  let bundle = await preparedBundle(inject('preparedBundles'), entry);
  for (const [text, replacement] of release) {
    expect(bundle.split(text)).toHaveLength(2);
    bundle = bundle.replace(text, replacement);
  }
  return bundle;
}

/** On the state that the stack before left. */
const startMixed = (edge: Release, service: Release): Promise<Stack> =>
  startTestStack({ stateDir, bundle: (entry) => bundleOf(entry, entry === edgeEntry ? edge : service) });

const blockRule = (stack: Stack, userAgent: string) =>
  manage(stack, '/protect/access-rules/create', { rules: [{ type: 'userAgent', value: userAgent, verdict: 'block' }] });

/** Adds a bot to the table. The configuration decides what it gets. */
const addBot = (stack: Stack, id: string) =>
  manage(stack, '/protect/bots/own/add', {
    id,
    behaviours: ['other'],
    patterns: [`${id}/`],
    networks: ['20.9.9.0/24'],
  });

const configure = (stack: Stack, policy: object) =>
  manage(stack, '/protect/instances/update', { id: stack.instanceId, ...policy });

const blockBots = (...bots: string[]) => ({ botPolicy: { overrides: bots.map((bot) => ({ bot, action: 'block' })) } });

const statusFor = async ({ edgeUrl }: Stack, userAgent: string, path = '/'): Promise<number> =>
  (await browse(edgeUrl + path, { headers: { 'user-agent': userAgent } })).status;

async function blocked(stack: Stack, ...userAgents: string[]): Promise<void> {
  for (const userAgent of userAgents) {
    await eventually(
      () => statusFor(stack, userAgent),
      (status) => status === 403,
    );
  }
}

/** KV has what the edge reads. */
const stored = (stack: Stack) =>
  eventually(
    () => stack.runScheduled(),
    (isDone) => isDone,
  );

/** State of this release, with a rule, a bot and a configuration that its edge enforced and has in KV. */
beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-mixed-'));
  const stack = await startMixed(THIS, THIS);
  await blockRule(stack, 'oldrule');
  await addBot(stack, 'oldbot');
  await configure(stack, blockBots('oldbot'));
  await blocked(stack, 'oldrule/1', 'oldbot/1');
  await stored(stack);
  await stack.stop();
});
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

test.each([
  ['an edge of this release with a service of the next one', THIS, NEXT],
  ['an edge of the next release with a service of this one', NEXT, THIS],
])('%s enforces what is old and what is new, in new isolates too', async (_, edge, service) => {
  const stack = await startMixed(edge, service);
  try {
    await rulesLoaded(stack);
    expect([await statusFor(stack, 'oldrule/1'), await statusFor(stack, 'oldbot/1')]).toEqual([403, 403]);
    await blockRule(stack, 'newrule');
    await addBot(stack, 'newbot');
    await configure(stack, blockBots('oldbot', 'newbot'));
    await blocked(stack, 'newrule/1', 'newbot/1');
    await stack.restartEdge();
    await rulesLoaded(stack);
    await blocked(stack, 'oldrule/1', 'oldbot/1', 'newrule/1', 'newbot/1');
  } finally {
    await stack.stop();
  }
});

test('an edge that does not know a word of its configuration takes the rest of it, and KV has it', async () => {
  const stack = await startMixed(WITHOUT_A_WORD, THIS);
  try {
    await rulesLoaded(stack);
    await configure(stack, {
      botPolicy: {
        ...blockBots('oldbot').botPolicy,
        behaviours: { seo: 'charge' },
        charge: { price: 'USD 0.01', licenseUrl: 'https://shop.example/licence' },
      },
      pathRules: [{ pattern: '/closed', action: 'block' }],
    });
    await eventually(
      () => statusFor(stack, 'Mozilla/5.0', '/closed'),
      (status) => status === 403,
    );
    expect(await statusFor(stack, 'oldbot/1')).toBe(403);
    await stored(stack);
  } finally {
    await stack.stop();
  }
});

test('an edge whose formats the service no longer writes goes on with the last ones that it could read', async () => {
  let service = THIS;
  const stack = await startTestStack({
    stateDir,
    bundle: (entry) => bundleOf(entry, entry === edgeEntry ? THIS : service),
  });
  try {
    await blocked(stack, 'oldrule/1', 'oldbot/1');
    await stored(stack);
    service = AFTER_NEXT;
    await stack.stopService();
    await stack.startService();
    await stack.restartEdge();
    await rulesLoaded(stack);
    expect([await statusFor(stack, 'oldrule/1'), await statusFor(stack, 'oldbot/1')]).toEqual([403, 403]);
  } finally {
    await stack.stop();
  }
});
