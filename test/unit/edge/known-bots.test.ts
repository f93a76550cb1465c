/** Who a request is taken for at the edge: names, networks, host names and signatures together. */
import { readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { catalogue } from '../../../src/bots/catalogue.ts';
import { encodeBotTable, type ListedBot } from '../../../src/bots/encode-bot-table.ts';
import { openBotTable, type BotTable } from '../../../src/bots/open-bot-table.ts';
import { DIRECTORY_PATH } from '../../../src/bots/signatures/agent-address.ts';
import { ok } from '../../../src/result.ts';
import { ProofMemory, type ProofService } from '../../../src/bots/proof-memory.ts';
import type { BotKeys } from '../../../src/contract/edge/bot-calls.ts';
import { KnownBots } from '../../../src/edge/decide/known-visitor.ts';
import { expectRows } from '../../support/rows.ts';
import { agentKeyPair, signed, type AgentKeyPair, type Signing } from '../../support/signed-request.ts';
import { NOW_MS, factsOf, signalsOf } from './edge-fixture.ts';

const BING_RANGE = 'https://www.bing.com/toolbox/bingbot.json';
const listed: ListedBot[] = [
  {
    id: 'rangebot',
    behaviours: ['search'],
    patterns: ['rangebot'],
    tokens: [],
    ranges: [BING_RANGE],
    isComplete: true,
  },
  {
    id: 'signingbot',
    behaviours: ['agent'],
    patterns: ['signingbot'],
    tokens: [],
    ranges: [BING_RANGE],
    agents: ['https://agent.test'],
    isComplete: true,
  },
  { id: 'alsosigning', behaviours: ['preview'], patterns: ['alsosigning'], tokens: [], agents: ['https://agent.test'] },
];

function tableOf(bots: ListedBot[], networks: [string, string[]][]): BotTable {
  const opened = openBotTable(encodeBotTable({ builtAtMs: 1, bots, networks: new Map(networks) }));
  if (!opened.ok) throw new Error(opened.error);
  return opened.value;
}

let pair: AgentKeyPair;
let table: BotTable;
let bots: KnownBots;
let behind: Promise<unknown>[];
let spend: ProofService['spendNonce'];
let spends: number;
let keys: BotKeys;

beforeAll(async () => {
  pair = await agentKeyPair();
  table = tableOf(listed, [[BING_RANGE, ['157.55.39.0/24']]]);
});
beforeEach(() => {
  [behind, spends, spend] = [[], 0, async () => ok(true)];
  keys = { isFetched: true, keys: [pair.key], maxAgeSeconds: 600 };
  const service: ProofService = {
    keys: async () => ok(keys),
    name: async () => ok({ holds: false, ttlSeconds: 600 }),
    spendNonce: (question) => {
      spends += 1;
      return spend(question);
    },
  };
  bots = new KnownBots(() => table, new ProofMemory(service));
});

interface Visit {
  userAgent?: string;
  ip?: string;
  signing?: Partial<Signing> | null;
  spendsNonces?: boolean;
  nowMs?: number;
}
/** The words of the signal, such as `bingbot range`. */
async function seen({ userAgent = 'x', ip = '192.0.2.1', signing = null, spendsNonces = false }: Visit) {
  const request = signing === null ? new Request('https://site.test/') : await signedTo(signing);
  return read(request, { userAgent, ip, spendsNonces });
}
const signedTo = (signing: Partial<Signing>): Promise<Request> =>
  signed(pair, { url: 'https://site.test/', nowMs: NOW_MS, ...signing });
async function read(
  request: Request,
  { userAgent = 'x', ip = '192.0.2.1', spendsNonces = false, nowMs = NOW_MS }: Visit,
) {
  const facts = factsOf('/', { request, nowMs, signals: signalsOf({ ip, userAgent }) });
  const found = await bots.read(facts, (work) => behind.push(work), spendsNonces);
  return found && `${found.id} ${found.proof}`;
}
/** The keys of the agent are known here. */
async function acquainted(agent?: string): Promise<void> {
  await seen({ signing: agent === undefined ? {} : { agent } });
  await Promise.all(behind.splice(0));
}

describe('an impostor', () => {
  test('is none in the networks of the bot, and one elsewhere', async () => {
    expect(await seen({ userAgent: 'rangebot', ip: '157.55.39.1' })).toBe('rangebot range');
    expect(await seen({ userAgent: 'rangebot' })).toBe('rangebot impostor');
  });

  test('stays one with a signature that cannot be decided', async () => {
    const userAgent = 'rangebot';
    expect(await seen({ userAgent, signing: {} })).toBe('rangebot impostor');
    const nameless: Partial<Signing> = { agent: null, components: ['@authority'] };
    expect(await seen({ userAgent, signing: nameless })).toBe('rangebot impostor');
    const unknown = await signedTo({});
    const input = unknown.headers.get('signature-input') ?? '';
    unknown.headers.set('signature-input', input.replace('"@authority"', '"@authority";req'));
    expect(await read(unknown, { userAgent })).toBe('rangebot impostor');
    await Promise.all(behind.splice(0));
    expect(await seen({ userAgent, signing: { parameters: { keyid: 'A'.repeat(43) } } })).toBe('rangebot impostor');
    expect(await seen({ userAgent, signing: { lifetimeSeconds: 86_401 } })).toBe('rangebot impostor');
  });

  test('is none yet where the bot signs and its keys are not known', async () => {
    const userAgent = 'signingbot';
    expect(await seen({ userAgent, signing: {} })).toBe('signingbot claimed');
    expect(await seen({ userAgent })).toBe('signingbot impostor');
  });
});

test('a name is one of published networks where the bot publishes all of them, read or not', async () => {
  table = tableOf(listed, []);
  const isPublished = async (userAgent: string) => {
    const facts = factsOf('/', { nowMs: NOW_MS, signals: signalsOf({ ip: '192.0.2.1', userAgent }) });
    return bots.read(facts, (work) => behind.push(work), false);
  };
  expect(await isPublished('rangebot')).toMatchObject({ proof: 'claimed', isPublished: true });
  expect(await isPublished('alsosigning')).toMatchObject({ proof: 'claimed', isPublished: false });
  table = tableOf(listed, [[BING_RANGE, ['157.55.39.0/24']]]);
});

describe('an agent that signs', () => {
  test('is the bot that it names itself, where several have the same keys, and else the first', async () => {
    await acquainted();
    expect(await seen({ userAgent: 'alsosigning', signing: {} })).toBe('alsosigning signature');
    expect(await seen({ userAgent: 'rangebot', signing: {} })).toBe('signingbot signature');
    expect(await seen({ signing: {} })).toBe('signingbot signature');
  });

  test('is claimed by its address until its keys are known, and an unknown one is nobody', async () => {
    expect(await seen({ signing: {} })).toBe('signingbot claimed');
    expect(await seen({ signing: { agent: 'sig1="https://other.test"' } })).toBeNull();
  });

  test.each(['/files/upload.json', `/files${DIRECTORY_PATH}`, '/.well-known'])(
    'is not the bot of an origin where its key set is at another path: %s',
    async (path) => {
      const agent = `sig1="https://agent.test${path}"`;
      expect(await seen({ signing: { agent } })).toBeNull();
      await acquainted(agent);
      expect(await seen({ signing: { agent } })).toBe(`agent.test${path} signature`);
      expect(await seen({ userAgent: 'signingbot', signing: { agent } })).toBe(`agent.test${path} signature`);
    },
  );

  test('outside the catalogue is its host only where the keys are the host’s own', () =>
    expectRows(
      [
        ['https://other.test', 'other.test'],
        ['https://other.test/keys', 'other.test/keys'],
        [`https://other.test/a${DIRECTORY_PATH}`, `other.test/a${DIRECTORY_PATH}`],
        [`https://other.test/${'k'.repeat(300)}`, `other.test/${'k'.repeat(116)}/`],
      ],
      async ([url, id]) => {
        const agent = `sig1="${url}"`;
        await acquainted(agent);
        expect(await seen({ signing: { agent } })).toBe(`${id} signature`);
      },
    ));
});

describe('while its directory', () => {
  /** A request every half minute. */
  async function during(minutes: readonly [from: number, to: number]): Promise<Set<string | null>> {
    const request = await signedTo({ lifetimeSeconds: 7200 });
    const found = new Set<string | null>();
    for (let half = 2 * minutes[0]; half < 2 * minutes[1]; half++) {
      found.add(await read(request, { nowMs: NOW_MS + half * 30_000 }));
      await Promise.all(behind.splice(0));
    }
    return found;
  }

  test('is down for ten minutes, an agent whose key is known goes on', async () => {
    await acquainted();
    keys = { ...keys, isFetched: false, maxAgeSeconds: 300 };
    expect(await during([0, 10])).toEqual(new Set(['signingbot signature']));
    keys = { ...keys, isFetched: true };
    expect(await during([10, 20])).toEqual(new Set(['signingbot signature']));
  });

  test('no longer lists its key, an agent is proved until the keys are as old as they may be', async () => {
    await acquainted();
    keys = { ...keys, keys: [(await agentKeyPair()).key] };
    await during([0, 10]);
    expect(await during([10, 20])).toEqual(new Set(['signingbot claimed']));
  });
});

describe('where each signature counts once', () => {
  const nonce = (value: string): Partial<Signing> => ({ parameters: { nonce: value } });

  test('one of 200 requests with the same nonce is proved, and the service is asked once', async () => {
    await acquainted();
    const request = await signedTo(nonce('n1'));
    const found = await Promise.all(Array.from({ length: 200 }, () => read(request, { spendsNonces: true })));
    expect(found.filter((one) => one === 'signingbot signature')).toHaveLength(1);
    expect(found.filter((one) => one === 'signingbot claimed')).toHaveLength(199);
    expect(spends).toBe(1);
  });

  test('a signature without a nonce, with a used one, or while the service is away proves nothing', async () => {
    await acquainted();
    expect(await seen({ signing: {}, spendsNonces: true })).toBe('signingbot claimed');
    expect(await seen({ signing: nonce(''), spendsNonces: true })).toBe('signingbot claimed');
    spend = async () => ok(false);
    expect(await seen({ signing: nonce('n2'), spendsNonces: true })).toBe('signingbot claimed');
  });

  test('what is wrong or unknown spends nothing', async () => {
    await seen({ signing: nonce('n1'), spendsNonces: true });
    await Promise.all(behind.splice(0));
    const forged = await signedTo({ ...nonce('n1'), nowMs: NOW_MS - 1000 });
    forged.headers.set('signature', (await signedTo(nonce('n1'))).headers.get('signature') ?? '');
    await read(forged, { spendsNonces: true });
    expect(spends).toBe(0);
    expect(await seen({ signing: nonce('n1'), spendsNonces: true })).toBe('signingbot signature');
  });
});

test('every user agent of the catalogue’s lists is its bot, and from 192.0.2.1 none is proved', async () => {
  const { bots: all } = catalogue.parse(JSON.parse(readFileSync('src/bots/catalogue.json', 'utf8')));
  const { userAgents } = JSON.parse(readFileSync('test/fixtures/bots/user-agents.json', 'utf8')) as {
    userAgents: string[];
  };
  const sources = new Set(all.flatMap((bot) => bot.ranges ?? []));
  table = tableOf(
    all,
    [...sources].map((source) => [source, ['157.55.39.0/24']] as [string, string[]]),
  );
  const wrong: string[] = [];
  let named = 0;
  for (const userAgent of userAgents) {
    const id = table.identify(userAgent)?.id ?? null;
    if (id !== null) named += 1;
    const first = await seen({ userAgent });
    await Promise.all(behind.splice(0));
    for (const found of [first, await seen({ userAgent })]) {
      if (found !== (id && `${id} claimed`) && found !== `${id} impostor`) wrong.push(`${found}: ${userAgent}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(named).toBeGreaterThan(userAgents.length - 20);
});
