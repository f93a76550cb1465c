// A stack of its own: its service reads the networks of bots from this file alone, and only when it is told to.
/** The bot table over HTTP: what publishers send, what the service makes of it, and what an edge can load. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runInStack } from '../../src/cli/control.ts';
import { StateDir } from '../../src/cli/state.ts';
import { type BotTable, openBotTable, type RangeAnswer } from '../../src/bots/open-bot-table.ts';
import { decodeBase64url } from '../../src/bytes/base64url.ts';
import { openSignedRuleset } from '../../src/rules/signing.ts';
import type { Stack } from '../../src/cli/stack.ts';
import { manage, startTestStack } from '../support/stack.ts';

const BING = '/www.bing.com/toolbox/bingbot.json';
const prefixes = (...networks: string[]): string =>
  JSON.stringify({ prefixes: networks.map((ipv4Prefix) => ({ ipv4Prefix })) });
const bingbot = (...networks: string[]): void => publish(BING, (_, response) => json(response, prefixes(...networks)));

/** What publishers send that must not count, each for the bot that it is the list of. */
const refused: Record<string, { bot: string; what: string; answer: Answer }> = {
  '/openai.com/gptbot.json': {
    bot: 'gptbot',
    what: 'a web page',
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(prefixes('20.1.2.0/24'));
    },
  },
  '/openai.com/searchbot.json': {
    bot: 'oai-searchbot',
    what: 'everything',
    answer: (_, response) => json(response, prefixes('20.1.2.0/24', '0.0.0.0/0')),
  },
  '/openai.com/chatgpt-user.json': {
    bot: 'chatgpt-user',
    what: 'a private network',
    answer: (_, response) => json(response, prefixes('20.1.2.0/24', '192.168.0.0/16')),
  },
  '/claude.com/crawling/bots.json': {
    bot: 'claudebot',
    what: '30 MB',
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.on('error', () => {});
      const part = Buffer.alloc(1024 * 1024, ' ');
      let sent = 0;
      const more = (): void => {
        sent += 1;
        if (sent > 30) response.end(prefixes('20.1.2.0/24'));
        else response.write(part, () => more());
      };
      more();
    },
  },
  '/www.perplexity.com/perplexitybot.json': {
    bot: 'perplexitybot',
    what: 'a redirect to another host',
    answer: (_, response) => {
      response.writeHead(302, { location: 'http://localhost:1/list.json' }).end();
    },
  },
  '/www.perplexity.com/perplexity-user.json': {
    bot: 'perplexity-user',
    what: 'a redirect to itself',
    answer: (request, response) => {
      response.writeHead(302, { location: request.url }).end();
    },
  },
  '/search.developer.apple.com/applebot.json': {
    bot: 'applebot',
    what: 'nothing',
    answer: (_, response) => json(response, ''),
  },
  '/index.commoncrawl.org/ccbot.json': {
    bot: 'ccbot',
    what: 'an error',
    answer: (_, response) => {
      response.writeHead(503, { 'content-type': 'application/json' }).end(prefixes('20.1.2.0/24'));
    },
  },
  '/www.mojeek.com/mojeekbot.json': {
    bot: 'mojeekbot',
    what: 'half an answer',
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
      response.write(prefixes('20.1.2.0/24'), () => response.destroy());
    },
  },
  '/duckduckgo.com/duckduckbot.json': {
    bot: 'duckduckbot',
    what: 'a picture',
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'image/png' }).end(prefixes('20.1.2.0/24'));
    },
  },
};
/** The other forms, and a redirect on the publisher's own host. */
const accepted: Record<string, { bot: string; answer: Answer }> = {
  '/www.facebook.com/peering/geofeed': {
    bot: 'facebookexternalhit',
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' }).end('# feed\n20.1.2.0/24,IE,,,\n');
    },
  },
  '/stripe.com/files/ips/ips_webhooks.json': {
    bot: 'stripe',
    answer: (_, response) => json(response, '{"WEBHOOKS":["20.1.2.3"]}'),
  },
  '/cdn.uptimerobot.com/api/IPv4andIPv6.txt': {
    bot: 'uptimerobot',
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('20.1.2.3\r\n');
    },
  },
  '/mistral.ai/mistralai-user-ips.json': {
    bot: 'mistralai-user',
    answer: (request, response) => {
      response.writeHead(301, { location: `${request.url}/moved` }).end();
    },
  },
  '/mistral.ai/mistralai-user-ips.json/moved': {
    bot: 'mistralai-user',
    answer: (_, response) => json(response, prefixes('20.1.2.0/24')),
  },
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const answers = new Map<string, Answer>();
/** Requests for each path, with their `If-None-Match`. */
const asked = new Map<string, (string | undefined)[]>();
let publisher: Server;
let stack: Stack;

function publish(path: string, answer: Answer): void {
  answers.set(path, answer);
}
function json(response: ServerResponse, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
}

beforeAll(async () => {
  publisher = createServer((request, response) => {
    const path = request.url ?? '';
    asked.set(path, [...(asked.get(path) ?? []), request.headers['if-none-match']]);
    const answer = answers.get(path);
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  await new Promise<void>((resolve) => {
    publisher.listen(0, '127.0.0.1', resolve);
  });
  const { port } = publisher.address() as AddressInfo;
  bingbot('157.55.39.0/24', '207.46.13.0/24', '40.77.167.0/24', '13.66.139.0/24');
  for (const [path, { answer }] of Object.entries(refused)) publish(path, answer);
  for (const [path, { answer }] of Object.entries(accepted)) publish(path, answer);
  // A prepared state has lists of the local stack.
  const serviceVars = { BOT_RANGES_BASE: `http://127.0.0.1:${port}` };
  stack = await startTestStack({ schedule: false, fresh: true, serviceVars });
  await readEverything();
});
afterAll(async () => {
  await stack.stop();
  publisher.closeAllConnections();
  publisher.close();
});
beforeEach(() => asked.clear());

const edge = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${stack.serviceUrl}${path}`, { headers: { authorization: `Bearer ${stack.clientJwt}`, ...headers } });

/** Some lists are read in each run; in six runs every one was. */
async function readEverything(): Promise<void> {
  for (let run = 0; run < 6; run++) await stack.runScheduled();
}

async function currentHash(): Promise<string> {
  const version = (await (await edge('/edge/v1/version?bots')).json()) as { bots: { hash: string } };
  return version.bots.hash;
}

/** Loads the table as an edge does. */
async function loadTable(): Promise<BotTable> {
  const response = await edge(`/edge/v1/bots/${await currentHash()}`);
  expect(response.status).toBe(200);
  const config = (await (await edge('/edge/v1/config')).json()) as {
    rulesetKeys: { kid: string; publicKey: string }[];
  };
  const keys = new Map<string, CryptoKey>();
  for (const { kid, publicKey } of config.rulesetKeys) {
    keys.set(kid, await crypto.subtle.importKey('raw', decodeBase64url(publicKey)!, 'Ed25519', false, ['verify']));
  }
  const signed = await openSignedRuleset(new Uint8Array(await response.arrayBuffer()), keys);
  if (!signed.ok) throw new Error(signed.error);
  const opened = openBotTable(signed.value.payload);
  if (!opened.ok) throw new Error(opened.error);
  return opened.value;
}

/** A command of the operator. */
async function command(...words: string[]): Promise<unknown> {
  const control = new StateDir(stack.stateDir).control();
  if (control === null) throw new Error('The stack does not run');
  const { exitCode, output } = await runInStack(control, words);
  if (exitCode !== 0) throw new Error(output);
  return JSON.parse(output);
}
const BING_LIST = `https:/${BING}`;

const rangeOf = (table: BotTable, id: string, ip: string): RangeAnswer => table.rangeAnswer(table.byId(id)!, ip);

describe('the bot table', () => {
  test('is signed with a key of the rulesets and has the catalogue with the networks that were read', async () => {
    const table = await loadTable();
    expect(table.bots.length).toBeGreaterThan(700);
    const bot = table.identify('Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)');
    expect(bot?.id).toBe('bingbot');
    expect(rangeOf(table, 'bingbot', '157.55.39.1')).toBe('holds');
    expect(rangeOf(table, 'bingbot', '192.0.2.1')).toBe('fails');
    expect(rangeOf(table, 'semrushbot', '192.0.2.1')).toBe('none');
  });

  test('is found by its content only, and unknown names and other methods are refused', async () => {
    for (const name of ['0'.repeat(64), 'x', '..%2Fcommon']) {
      expect([name, (await edge(`/edge/v1/bots/${name}`)).status]).toEqual([name, 404]);
    }
    const path = `/edge/v1/bots/${await currentHash()}`;
    expect((await fetch(`${stack.serviceUrl}${path}`)).status).toBe(401);
    expect((await edge(path)).headers.get('cache-control')).toContain('immutable');
  });

  test('is named in the version only where an edge asks for it, and the version revalidates', async () => {
    const plain = (await (await edge('/edge/v1/version')).json()) as Record<string, unknown>;
    expect(Object.keys(plain).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['base', 'configVersion', 'delta']);
    const asking = await edge('/edge/v1/version?bots');
    const again = await edge('/edge/v1/version?bots', { 'if-none-match': asking.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
  });
});

describe('a bot of the operator', () => {
  const own = {
    id: 'ourbot',
    behaviours: ['monitor'],
    patterns: ['OurBot/'],
    networks: ['20.9.9.77/24'],
    isComplete: true,
  };
  const add = (bot: object): Promise<unknown> =>
    command('bots', 'add', '--account', stack.accountId, '--bot', JSON.stringify(bot));

  test('is in the table of its account until it is removed', async () => {
    const common = await currentHash();
    await add(own);
    await stack.runScheduled();
    const table = await loadTable();
    expect(table.identify('OurBot/2.0')).toMatchObject({ id: 'ourbot', behaviours: ['monitor'], isComplete: true });
    expect(rangeOf(table, 'ourbot', '20.9.9.1')).toBe('holds');
    expect(rangeOf(table, 'ourbot', '192.0.2.1')).toBe('fails');
    expect(table.byId('bingbot')).not.toBeNull();
    expect(await command('bots', 'list', '--account', stack.accountId)).toEqual([
      { ...own, tokens: [], networks: ['20.9.9.0/24'] },
    ]);
    await command('bots', 'remove', '--account', stack.accountId, '--id', 'ourbot');
    await stack.runScheduled();
    expect(await currentHash()).toBe(common);
    expect((await loadTable()).identify('OurBot/2.0')).toBeNull();
  });

  test('is the edges’ when the API has added it, without waiting for a scheduled run', async () => {
    const common = await currentHash();
    await manage(stack, '/protect/bots/own/add', own);
    const table = await loadTable();
    expect(rangeOf(table, 'ourbot', '20.9.9.1')).toBe('holds');
    expect(await command('bots', 'list', '--account', stack.accountId)).toEqual(
      (await manage<{ bots: object[] }>(stack, '/protect/bots/own')).bots,
    );
    expect(await command('bots', 'find', '--account', stack.accountId, '--search', 'OURBOT')).toEqual(
      (await manage<{ bots: object[] }>(stack, '/protect/bots', { search: 'ourbot' })).bots,
    );
    await manage(stack, '/protect/bots/own/remove', { id: 'ourbot' });
    expect(await currentHash()).toBe(common);
  });

  test('is refused when it would be everybody, or comes from where nobody does', async () => {
    await expect(add({ ...own, patterns: ['Moz'] })).rejects.toThrow('patterns');
    await expect(add({ ...own, patterns: [] })).rejects.toThrow('patterns');
    await expect(add({ ...own, networks: ['10.0.0.0/8'] })).rejects.toThrow('private or reserved');
    await expect(add({ ...own, networks: ['0.0.0.0/0'] })).rejects.toThrow('too wide');
    await expect(add({ ...own, behaviours: ['anything'] })).rejects.toThrow('behaviours');
    await expect(add({ ...own, id: 'Our Bot' })).rejects.toThrow('id');
  });
});

describe('a list of networks', () => {
  test('that is not one proves nothing, and the lists beside it count', async () => {
    const table = await loadTable();
    for (const { bot, what } of Object.values(refused)) {
      expect([what, rangeOf(table, bot, '20.1.2.3'), table.byId(bot)?.ranges.length]).toEqual([what, 'unknown', 1]);
    }
    for (const { bot } of Object.values(accepted))
      expect([bot, rangeOf(table, bot, '20.1.2.3')]).toEqual([bot, 'holds']);
  });

  test('is not asked for again before it is due', async () => {
    await stack.runScheduled();
    expect([...asked.keys()]).toEqual([]);
  });

  test('is shown to the operator with its number, its age and what is wrong', async () => {
    const lists = (await command('bots', 'lists')) as { url: string; error: string | null }[];
    expect(lists.find(({ url }) => url === BING_LIST)).toMatchObject({
      bots: expect.arrayContaining(['bingbot', 'adidxbot']) as string[],
      networkCount: 4,
      confirmedAt: expect.stringMatching(/^20/) as string,
      triedAt: expect.stringMatching(/^20/) as string,
      error: null,
      waitsForAccept: false,
    });
    expect(lists.find(({ url }) => url.endsWith('/gptbot.json'))).toMatchObject({
      networkCount: 0,
      confirmedAt: null,
      triedAt: expect.stringMatching(/^20/) as string,
      error: 'The answer is a web page',
    });
    // A list that the mirror never had is unread.
    const shown = await manage<{ lists: { url: string; triedAt: number | null }[] }>(stack, '/protect/bots/lists');
    expect(shown.lists.map(({ url, triedAt }) => [url, triedAt && new Date(triedAt).toISOString()])).toEqual(
      (lists as { url: string; triedAt?: string | null }[]).map(({ url, triedAt = null }) => [url, triedAt]),
    );
  });

  test('that changed by more than half counts when the operator has accepted it', async () => {
    await expect(command('bots', 'accept', BING_LIST)).rejects.toThrow('No changed list waits');
    bingbot('20.1.2.0/24', '20.1.3.0/24');
    await command('bots', 'read', BING_LIST);
    await stack.runScheduled();
    expect(asked.get(BING)).toHaveLength(1);
    const before = await loadTable();
    expect([rangeOf(before, 'bingbot', '157.55.39.1'), rangeOf(before, 'bingbot', '20.1.2.3')]).toEqual([
      'holds',
      'fails',
    ]);
    await command('bots', 'accept', BING_LIST);
    await stack.runScheduled();
    const after = await loadTable();
    expect([rangeOf(after, 'bingbot', '157.55.39.1'), rangeOf(after, 'bingbot', '20.1.2.3')]).toEqual([
      'fails',
      'holds',
    ]);
    await expect(command('bots', 'read', 'https://example.com/other.json')).rejects.toThrow('no list at this address');
  });

  test('that a publisher no longer has stays in force', async () => {
    publish(BING, (_, response) => {
      response.writeHead(410).end();
    });
    await command('bots', 'read', BING_LIST);
    await stack.runScheduled();
    expect(rangeOf(await loadTable(), 'bingbot', '20.1.2.3')).toBe('holds');
    const lists = (await command('bots', 'lists')) as { url: string; error: string | null }[];
    expect(lists.find(({ url }) => url === BING_LIST)?.error).toBe('The publisher answers with status 410');
  });
});
