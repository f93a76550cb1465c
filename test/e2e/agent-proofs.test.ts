// A stack of its own: its service asks the directories and the resolver of this file.
/**
 * What the service finds out about agents, asked as an edge asks: keys in their directories, names in DNS, and nonces. And
 * what the edge makes of signed requests with it.
 * Directories and DNS are servers of this test.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DIRECTORY_PATH } from '../../src/bots/signatures/agent-address.ts';
import { type BotKeys, botKeys } from '../../src/contract/edge/bot-calls.ts';
import type { Stack } from '../../src/cli/stack.ts';
import { type BotServers, type DirectoryAnswer, json, startBotServers } from '../support/bot-servers.ts';
import { expectRows } from '../support/rows.ts';
import { eventually, startTestStack } from '../support/stack.ts';
import { type AgentKeyPair, agentKeyPair, type Signing } from '../support/signed-request.ts';
import { FIREFOX } from '../support/browse.ts';
import { BING, botVisits, closed, ELSEWHERE, type Visit } from './bot-visits.ts';
import { quickRules } from './edge-visitor.ts';
import { type HeaderChange, signedHeaders, wrongSignatures } from './signed-visits.ts';
import { stackNow } from '../support/clock.ts';

/** Of requests to the edge. */
const SIGNING = ['agent', 'other', 'liar', 'late'];
const HOSTS = [
  'set',
  'bare',
  'lying',
  'mixed',
  'moved',
  'slow',
  'huge',
  'crowd',
  'html',
  'gone',
  'once',
  'down',
  ...SIGNING,
];

let servers: BotServers;
let stack: Stack;
let pair: AgentKeyPair;
const { visit, logOf, logged, until, policy } = botVisits(() => stack);
const setHost = (host: string, answer: DirectoryAnswer) => servers.hosts.set(`${host}.test`, answer);

beforeAll(async () => {
  pair = await agentKeyPair();
  servers = await startBotServers([...HOSTS.map((host) => `${host}.test`), 'chatgpt.com', 'agent.bot.goog']);
  stack = await startTestStack({ edgeVars: quickRules, serviceVars: servers.serviceVars });
});

afterAll(async () => {
  await stack?.stop();
  servers?.close();
});

async function ask(path: string, body: object): Promise<{ status: number; body: any }> {
  const response = await fetch(`${stack.serviceUrl}/edge/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.clientJwt}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function keysOf(agent: string, keyid?: string): Promise<BotKeys> {
  return botKeys.parse((await ask('bot-keys', { agent, keyid })).body);
}

const wellKnown = (host: string): string => `https://${host}.test${DIRECTORY_PATH}`;
const failure = { isFetched: false, keys: [] };

describe('a directory', () => {
  test('is fetched, its keys have the thumbprints that were computed, and it is kept as long as it asks for', async () => {
    setHost('set', json({ keys: [{ ...pair.jwk, kid: pair.keyid, use: 'sig' }] }, { 'cache-control': 'max-age=7200' }));
    expect(await keysOf(wellKnown('set'))).toEqual({ isFetched: true, keys: [pair.key], maxAgeSeconds: 7200 });
    servers.fetches.length = 0;
    const again = await keysOf(wellKnown('set'), pair.keyid);
    expect(again.keys).toEqual([pair.key]);
    expect(servers.fetches).toEqual([]);
  });

  test.each([
    ['one key without a set', 'bare', () => pair.jwk],
    ['a name of the key that is not its thumbprint', 'lying', () => ({ keys: [{ ...pair.jwk, kid: 'A'.repeat(43) }] })],
    [
      'entries that are no usable keys',
      'mixed',
      () => ({
        keys: [
          null,
          'key',
          { kty: 'oct', k: 'c2VjcmV0' },
          { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
          { ...pair.jwk, d: 'AA' },
          { ...pair.jwk, use: 'enc' },
          { ...pair.jwk, exp: 1 },
          { ...pair.jwk, nbf: 99_999_999_999 },
          { ...pair.jwk, x: 'AA' },
          pair.jwk,
        ],
      }),
    ],
  ])('with %s counts by what it has', async (_, host, body) => {
    setHost(host, json(body()));
    expect(await keysOf(wellKnown(host))).toMatchObject({ isFetched: true, keys: [pair.key] });
  });

  test('that has no key set to read has no keys, and is not fetched again soon', () =>
    expectRows<[string, string, DirectoryAnswer]>(
      [
        ['redirects', 'moved', (response) => response.writeHead(302, { location: '/set/' }).end()],
        ['stalls', 'slow', (response) => void response.writeHead(200).write('{"keys":[')],
        ['is larger than 64 KB', 'huge', json({ keys: [], padding: 'x'.repeat(70_000) })],
        ['lists 10,000 keys', 'crowd', json({ keys: Array.from({ length: 10_000 }, () => ({})) })],
        ['is a page', 'html', (response) => void response.setHeader('content-type', 'text/html').end('<html>')],
        ['does not exist', 'gone', (response) => void response.writeHead(404).end('{"keys":[]}')],
      ],
      async ([, host, answer]) => {
        setHost(host, answer);
        expect(await keysOf(wellKnown(host))).toEqual({ ...failure, maxAgeSeconds: 300 });
        servers.fetches.length = 0;
        expect(await keysOf(wellKnown(host), pair.keyid)).toMatchObject(failure);
        expect(servers.fetches).toEqual([]);
      },
    ));

  test('is fetched once for many who ask at the same time', async () => {
    setHost('once', json({ keys: [pair.jwk] }));
    servers.fetches.length = 0;
    const answers = await Promise.all(Array.from({ length: 30 }, () => keysOf(wellKnown('once'))));
    expect(answers.every(({ keys }) => keys.length === 1)).toBe(true);
    expect(servers.fetches).toHaveLength(1);
  });

  test('survives a restart of the service, also when it is down then', async () => {
    setHost('down', json({ keys: [pair.jwk] }));
    await keysOf(wellKnown('down'));
    setHost('down', (response) => void response.destroy());
    await stack.stopService();
    await stack.startService();
    expect(await keysOf(wellKnown('down'))).toMatchObject({ isFetched: true, keys: [pair.key] });
  });

  test('is not fetched unless its address is public', () =>
    expectRows(
      [
        'https://127.0.0.1/keys',
        'https://[::1]/keys',
        'https://[::ffff:10.0.0.1]/keys',
        'https://0x7f000001/keys',
        'https://localhost/keys',
        'https://metadata.google.internal/keys',
        'https://intranet/keys',
        'https://public.example:8443/keys',
        'https://private.example/keys',
        'https://mixed.example/keys',
        'https://nowhere.example/keys',
      ],
      async (agent) => {
        servers.names.set('private.example A', [{ type: 1, data: '192.168.0.1' }]);
        servers.names.set('mixed.example A', [{ type: 1, data: '8.8.8.8' }]);
        servers.names.set('mixed.example AAAA', [{ type: 28, data: 'fd00::1' }]);
        const { status, body } = await ask('bot-keys', { agent });
        // An address in another spelling is not what an edge would ask for.
        expect(status === 400 || (status === 200 && body.keys.length === 0)).toBe(true);
      },
    ));

  test('is not asked for by anything but a canonical https address', () =>
    expectRows(
      ['http://set.test/keys', 'https://a:b@set.test/keys', 'https://SET.test/keys', 'keys'],
      async (agent) => {
        expect((await ask('bot-keys', { agent })).status).toBe(400);
      },
    ));
});

describe('an address', () => {
  const PTR = 12;
  const A = 1;
  const AAAA = 28;
  const reverse = (ip: string): string => `${ip.split('.').toReversed().join('.')}.in-addr.arpa PTR`;
  const proof = async (ip: string, bot = 'googlebot') => (await ask('bot-proofs', { bot, ip })).body.holds as unknown;

  test('belongs to a bot when its name and the address of that name say so', async () => {
    servers.names.set(reverse('66.249.66.1'), [{ type: PTR, data: 'crawl-66-249-66-1.googlebot.com.' }]);
    servers.names.set('crawl-66-249-66-1.googlebot.com. A', [{ type: A, data: '66.249.66.1' }]);
    expect(await proof('66.249.66.1')).toBe(true);
    servers.names.set('1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.8.4.0.6.8.4.1.0.0.2.ip6.arpa PTR', [
      { type: PTR, data: 'crawl-v6.googlebot.com.' },
    ]);
    servers.names.set('crawl-v6.googlebot.com. AAAA', [{ type: AAAA, data: '2001:4860:4801:0::1' }]);
    expect(await proof('2001:4860:4801::1')).toBe(true);
  });

  test('with a name that is not proved to be the operator’s does not', () =>
    expectRows(
      [
        ['whose name has another address', '8.8.4.1', 'crawl-fake.googlebot.com.', '66.249.66.1'],
        ['whose name only begins like the operator’s', '8.8.4.2', 'googlebot.com.evil.test.', '8.8.4.2'],
        ['whose name only ends like the operator’s', '8.8.4.3', 'crawl.notgooglebot.com.', '8.8.4.3'],
        ['whose name is the operator’s domain itself', '8.8.4.4', 'googlebot.com.', '8.8.4.4'],
      ],
      async ([, ip, name, forward]) => {
        servers.names.set(reverse(ip), [{ type: PTR, data: name }]);
        servers.names.set(`${name} A`, [{ type: A, data: forward }]);
        expect(await proof(ip)).toBe(false);
      },
    ));

  test('without a name, of a private network, or of a bot without names does not', async () => {
    expect(await proof('8.8.4.9')).toBe(false);
    expect(await proof('10.0.0.1')).toBe(false);
    expect(await proof('66.249.66.1', 'gptbot')).toBe(false);
    expect(await proof('not-an-address')).toBe(false);
  });

  test('is undecided while DNS gives no answer, and is looked up again', async () => {
    servers.names.set(reverse('66.249.66.7'), 'broken');
    expect(await proof('66.249.66.7')).toBeNull();
    servers.names.set(reverse('66.249.66.7'), [{ type: PTR, data: 'crawl-7.googlebot.com.' }]);
    servers.names.set('crawl-7.googlebot.com. A', [{ type: A, data: '66.249.66.7' }]);
    expect(await proof('66.249.66.7')).toBe(true);
  });
});

describe('a nonce', () => {
  const use = async (nonce: string, expiresAt = stackNow() + 60_000, agent = wellKnown('set')) =>
    (await ask('bot-nonces/spend', { agent, keyid: pair.keyid, nonce, expiresAt })).body.spent as boolean;

  test('is spent once in 200 parallel uses', async () => {
    const expiresAt = stackNow() + 60_000;
    const uses = await Promise.all(Array.from({ length: 200 }, () => use('parallel', expiresAt)));
    expect(uses.filter(Boolean)).toHaveLength(1);
  });

  test('of another agent is another nonce', async () => {
    expect([await use('mine'), await use('mine'), await use('mine', undefined, wellKnown('other'))]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('of a signature that has expired, or lives longer than a day, cannot be spent', async () => {
    expect(await use('old', stackNow() - 120_000)).toBe(false);
    expect(await use('young', stackNow() + 2 * 86_400_000)).toBe(false);
  });
});

test('only an edge may ask', async () => {
  for (const path of ['bot-keys', 'bot-proofs', 'bot-nonces/spend']) {
    const response = await fetch(`${stack.serviceUrl}/edge/v1/${path}`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(401);
  }
});

describe('a signed request', () => {
  beforeAll(async () => {
    for (const host of ['agent.test', 'chatgpt.com', 'agent.bot.goog'])
      servers.hosts.set(host, json({ keys: [pair.jwk] }));
    servers.hosts.set('liar.test', json({ keys: [{ ...(await agentKeyPair()).jwk, kid: pair.keyid }] }));
    servers.hosts.set('crowd.test', json({ keys: Array.from({ length: 10_000 }, () => pair.jwk) }));
    servers.hosts.set('moved.test', (response) => response.writeHead(302, { location: '/agent.test/' }).end());
    servers.hosts.set('slow.test', (response) => void response.writeHead(200).write('{"keys":['));
  });
  beforeEach(() => policy(closed));

  async function send(
    signing: Partial<Signing>,
    { change, ...more }: Partial<Visit> & { change?: HeaderChange } = {},
    path = '/echo',
  ) {
    const nowMs = stackNow();
    const headers = await signedHeaders(pair, { url: stack.edgeUrl + path, nowMs, ...signing }, change);
    return visit({ from: ELSEWHERE, ...more, headers }, path);
  }
  /** Until the edge has the agent's keys. */
  const accepted = (signing: Partial<Signing> = {}) =>
    eventually(
      () => send(signing),
      ({ status }) => status === 200,
    );

  test('of an unknown agent waits for nothing, and the next one is proved', async () => {
    let release: (() => void) | undefined;
    servers.hosts.set('late.test', (response, request) => {
      release = () => json({ keys: [pair.jwk] })(response, request);
    });
    const agent = 'sig1="https://late.test"';
    const first = await send({ agent });
    expect([first.status, (await logged(first.id)).bot]).toEqual([403, null]);
    await eventually(
      async () => release,
      (found) => found !== undefined,
    );
    expect((await send({ agent })).status).toBe(403);
    release!();
    const { id } = await accepted({ agent });
    expect((await logged(id)).bot).toMatchObject({ id: 'late.test', proof: 'signature' });
  });

  const keyed = (key: string) => ({ name: 'signature-agent', parameters: { key } });
  test('is proved however it names its agent', () =>
    expectRows<[string, Partial<Signing>, string]>(
      [
        [
          'a bare string',
          { agent: '"https://chatgpt.com"', components: ['@authority', 'signature-agent'] },
          'chatgpt-agent',
        ],
        ['any key', { agent: 'g="https://agent.bot.goog"', components: ['@authority', keyed('g')] }, 'google-agent'],
        ['a key set’s address', { agent: 'sig1="https://agent.test/keys/jwks.json"' }, 'agent.test/keys/jwks.json'],
        ['an origin with type=directory', { agent: 'sig1="https://agent.test";type=directory' }, 'agent.test'],
      ],
      async ([, signing, bot]) => {
        const agent =
          bot === 'google-agent' ? 'Mozilla/5.0 (compatible; Google-Agent; +https://agent.bot.goog)' : FIREFOX;
        const { id } = await eventually(
          () => send(signing, { agent }),
          ({ status }) => status === 200,
        );
        expect(await logged(id)).toMatchObject({ bot: { id: bot, proof: 'signature' }, decided_by: `bot:${bot}` });
      },
    ));

  test('that is wrong in any way proves nothing, and is answered as any visitor is, with what to sign', async () => {
    await accepted();
    const wrong = wrongSignatures(stack.edgeUrl);
    for (const [what, signing, change] of wrong) {
      for (const _ of [1, 2]) {
        const answer = await send(signing, change === undefined ? {} : { change }, '/echo/wrong');
        expect([what, answer.status]).toEqual([what, 403]);
        expect([what, answer.headers.get('accept-signature')]).toEqual([what, expect.stringContaining('web-bot-auth')]);
      }
    }
    const records = await logOf('/echo/wrong', 2 * wrong.length);
    expect(records.map(({ bot }) => bot?.proof).filter((proof) => proof === 'signature')).toEqual([]);
  });

  test('does not save a false bot from being an impostor when it cannot be decided', async () => {
    await until({ ...BING, from: ELSEWHERE }, 'impostor');
    const answer = await send({ agent: 'sig1="https://other.test"' }, { agent: BING.agent });
    expect((await logged(answer.id)).bot).toMatchObject({ id: 'bingbot', proof: 'impostor' });
  });

  test('proves no bot of an origin by a key set at another path of it', async () => {
    const agent = `sig1="https://chatgpt.com/uploads${DIRECTORY_PATH}"`;
    const { id } = await accepted({ agent });
    expect((await logged(id)).bot).toMatchObject({ id: `chatgpt.com/uploads${DIRECTORY_PATH}`, proof: 'signature' });
  });

  test('counts once of 200 at the same time where the policy says so, and needs a nonce', async () => {
    await policy({ ...closed, botPolicy: { preset: 'open', signatures: { nonce: 'once' } } });
    let used = 0;
    const fresh = (): Partial<Signing> => ({ parameters: { nonce: `nonce-${(used += 1)}` } });
    await eventually(
      () => send(fresh()),
      ({ status }) => status === 200,
    );
    const isAccepted = ({ status }: { status: number }): boolean => status === 200;
    // A service that is slow to answer the edge may have counted a request that the edge then refuses: never two.
    const answers = await eventually(
      async () => {
        const request = { ...fresh(), nowMs: stackNow() };
        const round = await Promise.all(Array.from({ length: 200 }, () => send(request)));
        expect(round.filter(isAccepted).length).toBeLessThanOrEqual(1);
        return round;
      },
      (round) => round.some(isAccepted),
    );
    const refused = answers.find((answer) => !isAccepted(answer))!;
    expect(refused.headers.get('accept-signature')).toMatch(/;nonce="[\da-f-]{36}";/);
    expect((await send({})).status).toBe(403);
    expect((await send(fresh())).status).toBe(200);
  });

  test('whose nonce another edge has spent proves nothing', async () => {
    await policy({ ...closed, botPolicy: { preset: 'open', signatures: { nonce: 'once' } } });
    const body = {
      agent: `https://agent.test${DIRECTORY_PATH}`,
      keyid: pair.keyid,
      nonce: 'elsewhere',
      expiresAt: stackNow() + 600_000,
    };
    const spent = await fetch(`${stack.serviceUrl}/edge/v1/bot-nonces/spend`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.clientJwt}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(await spent.json()).toEqual({ spent: true });
    expect((await send({ parameters: { nonce: 'elsewhere' } })).status).toBe(403);
    expect((await send({ parameters: { nonce: 'not elsewhere' } })).status).toBe(200);
  });
});
