/** The report about bots, made from records whose numbers are known: who came, what each was told, and what it got. */
import { expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import type { BotTrafficResponse } from '../../src/contract/management/bot-traffic.ts';
import type { BotProof } from '../../src/contract/vocabulary.ts';
import { eventually } from '../support/eventually.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { newInstance, sendVerdicts } from './rule-book-instance.ts';
import { call } from './service/service-under-test.ts';
import { testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';

type Gate = Awaited<ReturnType<typeof newInstance>>;
type Request = [bot: string | null, proof: BotProof, path: string, more?: Partial<VerdictRecord>];

let batches = 0;
async function log({ jwt, id }: Gate, requests: readonly Request[]): Promise<void> {
  const at = testNow() - 120_000;
  const records = requests.map(([bot, proof, path, more], seq) =>
    verdictRecordOf(id, {
      timestamp: at + seq,
      bot: bot === null ? null : { id: bot, behaviours: ['search'], proof },
      request_path: path,
      edge: { colo: 'FRA', version: '0.1.0', isolate: `isolate-${batches}`, seq },
      ...more,
    }),
  );
  batches += 1;
  expect((await sendVerdicts(jwt, `bots-${batches}`, records)).status).toBe(200);
}

/** As an edge that read the origin's file. */
async function robots(gate: Gate, host: string, text: string): Promise<void> {
  expect((await call(gate.jwt, '/edge/v1/robots', { host, state: 'file', text })).status).toBe(200);
}

const report = async ({ token }: Gate, body: object = {}): Promise<BotTrafficResponse> =>
  (await call(token, '/protect/bots/traffic', body)).body as BotTrafficResponse;
const enforcing = async (gate: Gate, more: object = {}): Promise<void> => {
  const { token, id } = gate;
  expect((await call(token, '/protect/instances/update', { id, monitor: false, ...more })).status).toBe(200);
};
const blocked = { decision: 'block', status: 403 } as const;

test('each bot is listed with its proofs, its share and what it got, and impostors apart from it', async () => {
  const gate = await newInstance();
  await log(gate, [
    ['bingbot', 'range', '/a'],
    ['bingbot', 'range', '/a'],
    ['bingbot', 'claimed', '/b', { decision: 'challenge', status: 401 }],
    ['bingbot', 'dns', '/c', { decision: 'block', status: 402 }],
    ['bingbot', 'impostor', '/a', { decision: 'challenge', status: 401 }],
    ['bingbot', 'impostor', '/a', blocked],
    ['agent.example', 'signature', '/a'],
    // An origin may answer 402 itself, and in monitor mode a block is forwarded.
    ['gptbot', 'claimed', '/a', { status: 402 }],
    ['gptbot', 'claimed', '/a', { decision: 'block', status: 200 }],
    [null, 'claimed', '/a'],
    // Of an older edge.
    [null, 'claimed', '/a', { bot: undefined }],
  ]);
  const { bots, impostors, ...rest } = await report(gate);
  expect(bots.map(({ robots: said, ...bot }) => [said, bot])).toEqual([
    [
      null,
      {
        id: 'bingbot',
        name: 'bingbot',
        operator: 'Microsoft',
        behaviours: ['search'],
        total: 4,
        allow: 2,
        challenge: 1,
        block: 0,
        charge: 1,
        share: 4 / 11,
        proofs: { range: 2, dns: 1, signature: 0, claimed: 1, suspected: 0 },
      },
    ],
    [null, expect.objectContaining({ id: 'gptbot', total: 2, allow: 1, block: 1, charge: 0 })],
    [
      null,
      expect.objectContaining({
        id: 'agent.example',
        name: null,
        operator: null,
        behaviours: ['agent'],
        proofs: { range: 0, dns: 0, signature: 1, claimed: 0, suspected: 0 },
      }),
    ],
  ]);
  expect(impostors).toEqual([
    { id: 'bingbot', name: 'bingbot', total: 2, allow: 0, challenge: 1, block: 1, charge: 0, share: 2 / 11 },
  ]);
  expect(rest).toMatchObject({ total: 11, other: { bots: 0, total: 0 }, isExact: true, robotsIsExact: true });
  const short = await report(gate, { limit: 1 });
  expect(short.bots.map(({ id }) => id)).toEqual(['bingbot']);
  expect(short.other).toEqual({ bots: 2, total: 3 });
});

test('what a bot asked for is compared with the file of its host as crawlers get it', async () => {
  const gate = await newInstance();
  await enforcing(gate, { botPolicy: { overrides: [{ bot: 'bingbot', path: '/drafts/', action: 'block' }] } });
  await robots(gate, 'shop.example', 'User-agent: *\nDisallow: /private\nAllow: /private/open\n');
  await robots(gate, 'other.example', 'User-agent: *\nDisallow: /\n');
  await log(gate, [
    ['bingbot', 'range', '/drafts/1', blocked],
    ['bingbot', 'range', '/drafts/1', blocked],
    ['bingbot', 'claimed', '/private/x'],
    ['bingbot', 'range', '/private/open'],
    ['bingbot', 'range', '/'],
    // Everybody may fetch the file itself, and no crawler chooses paths of the gate.
    ['bingbot', 'range', '/robots.txt'],
    ['bingbot', 'range', '/__protect/challenge', { source: 'internal' }],
    ['bingbot', 'impostor', '/drafts/1'],
    // A crawler for training is told nothing else by the preset.
    ['gptbot', 'claimed', '/', blocked],
    ['feedly', 'claimed', '/feed', { host: 'unknown.example' }],
    ['feedly', 'claimed', '/feed', { host: 'other.example' }],
  ]);
  const answer = await eventually(
    () => report(gate),
    ({ bots }) => bots.every(({ robots: said }) => said !== null),
  );
  const said = new Map(answer.bots.map((bot) => [bot.id, bot.robots]));
  expect(said.get('bingbot')).toEqual({
    extent: 'parts',
    allowed: 3,
    disallowed: 3,
    disallowedProved: 2,
    examples: [
      { host: 'shop.example', path: '/drafts/1', rule: 'Disallow: /drafts/', total: 2 },
      { host: 'shop.example', path: '/private/x', rule: 'Disallow: /private', total: 1 },
    ],
  });
  expect(said.get('gptbot')).toMatchObject({ extent: 'nothing', allowed: 0, disallowed: 1, disallowedProved: 0 });
  expect(said.get('feedly')).toMatchObject({ extent: 'nothing', allowed: 0, disallowed: 1 });
  expect(answer.robotsIsExact).toBe(true);
});

test('without the policy in robots.txt, the file of the origin counts', async () => {
  const gate = await newInstance();
  await enforcing(gate, { botPolicy: { robots: { serve: false } } });
  await robots(gate, 'shop.example', 'User-agent: gptbot\nDisallow: /no\n');
  await log(gate, [
    ['gptbot', 'claimed', '/no', blocked],
    ['gptbot', 'claimed', '/yes', blocked],
  ]);
  const { bots } = await eventually(
    () => report(gate),
    (now) => now.bots[0]?.robots !== null,
  );
  expect(bots[0]?.robots).toMatchObject({ extent: 'parts', allowed: 1, disallowed: 1 });
});

test('the report ends where its work would not, and says so', async () => {
  const gate = await newInstance();
  const rules = Array.from({ length: 4000 }, (_, at) => `Disallow: /${'x'.repeat(40)}/${at}`);
  await robots(gate, 'shop.example', ['User-agent: *', ...rules, 'Disallow: /0'].join('\n'));
  const often: Request[] = Array.from({ length: 3 }, () => ['bingbot', 'range', '/0']);
  const once: Request[] = Array.from({ length: 1500 }, (_, at) => ['bingbot', 'range', `/once/${at}`]);
  for (let at = 0; at < once.length; at += 480) await log(gate, [...often, ...once.slice(at, at + 480)]);
  const { bots, robotsIsExact, isExact } = await eventually(
    () => report(gate),
    (now) => now.bots[0]?.robots !== null,
  );
  expect([robotsIsExact, isExact]).toEqual([false, true]);
  const { allowed = 0, examples = [] } = bots[0]?.robots ?? {};
  expect(examples[0]).toMatchObject({ path: '/0', total: 12 });
  expect(allowed).toBeGreaterThan(0);
  expect(allowed).toBeLessThan(1500);
});

test('a call with a mistake is refused', () =>
  expectRows(
    [
      ['a limit of nothing', { limit: 0 }],
      ['a limit that is too large', { limit: 501 }],
      ['a time that is none', { since: 'yesterday' }],
      ['an unknown field', { bot: 'bingbot' }],
    ],
    async ([, body]) => {
      const { token } = await newInstance();
      expect((await call(token, '/protect/bots/traffic', body)).status).toBe(400);
    },
  ));
