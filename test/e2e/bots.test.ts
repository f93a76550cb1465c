// A stack of its own: its service asks the directories and the resolver of this file.
/**
 * Bots that say who they are, over HTTP through both Workers: proved, claimed and false names. Directories of agents and
 * the resolver are servers of this test; the networks are those of the local stack.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { BotTrafficResponse } from '../../src/contract/management/bot-traffic.ts';
import { startBotServers } from '../support/bot-servers.ts';
import { FIREFOX } from '../support/browse.ts';
import { eventually, manage, useOwnStack } from '../support/stack.ts';
import { BING, botVisits, closed, DATACENTER, ELSEWHERE, FEED, PREVIEW, type Visit } from './bot-visits.ts';
import { hitsOf, quickRules } from './edge-visitor.ts';
import { stackNow } from '../support/clock.ts';

const servers = await startBotServers([]);
const stack = useOwnStack({ edgeVars: quickRules, serviceVars: servers.serviceVars });
afterAll(() => servers.close());

const { visit, logOf, logged, until, policy, call } = botVisits(stack);

beforeAll(async () => {
  await policy({});
  await until(BING, 'range');
});

describe('a search engine', () => {
  beforeEach(() => policy({ ipCategoryRules: { datacenter: 'challenge' } }));

  test('passes from its own network, which is of a hosting provider that is challenged', async () => {
    const known = await visit({ ...BING, asn: DATACENTER });
    expect(known.status).toBe(200);
    expect(await logged(known.id)).toMatchObject({
      bot: { id: 'bingbot', proof: 'range' },
      source: 'bot',
      decided_by: 'bot:bingbot',
    });
    const neighbour = await visit({ from: BING.from, asn: DATACENTER });
    expect(neighbour.status).toBe(403);
    expect(await logged(neighbour.id)).toMatchObject({ bot: null, source: 'ip-category' });
  });

  test('is an impostor from elsewhere, and challenged', async () => {
    const { status, record } = await until({ ...BING, from: ELSEWHERE }, 'impostor');
    expect([status, record]).toEqual([
      403,
      expect.objectContaining({ decision: 'challenge', source: 'impostor', decided_by: 'bot:bingbot' }),
    ]);
  });
});

test('the log is filtered by bot and by proof, and counts both', async () => {
  await policy({});
  const crawler = { from: '192.0.2.7', agent: 'Mozilla/5.0 (compatible; Bytespider)' };
  const seen = [await visit(crawler, '/one'), await visit(crawler, '/two'), await visit(BING, '/three')];
  for (const { id } of seen) await logged(id);
  const ids = async (path: string, filter: object): Promise<string[]> => {
    const { verdicts } = await manage<{ verdicts: { request_id: string }[] }>(stack(), path, filter);
    return verdicts.map(({ request_id: id }) => id);
  };
  const [one, two, three] = seen.map(({ id }) => id);
  for (const path of ['/protect/verdicts', '/protect/verdicts/tail', '/protect/verdicts/search']) {
    const found = await ids(path, { bot: 'bytespider' });
    expect(new Set(found), path).toEqual(new Set([one, two]));
    expect(await ids(path, { bot: ['bytespider', 'nobody'], proof: 'impostor' }), path).toEqual([]);
    const both = await ids(path, { bot: ['bytespider', 'bingbot'], proof: ['range', 'claimed'] });
    expect(both, path).toEqual(expect.arrayContaining([one, two, three]));
  }
  const exported = await call('/protect/verdicts/export', { bot: 'bytespider' });
  expect((await exported.text()).trim().split('\n')).toHaveLength(2);

  interface Split {
    total: number;
    series: { value: string | null; total: number; block: number }[];
    other: { total: number };
    isExact: boolean;
  }
  const split = (groupBy: string) => manage<Split>(stack(), '/protect/traffic-by-dimension', { groupBy });
  const byBot = await split('bot');
  expect(byBot.series.find(({ value }) => value === 'bytespider')).toMatchObject({ total: 2, block: 2 });
  expect(byBot.series.reduce((sum, { total }) => sum + total, byBot.other.total)).toBe(byBot.total);
  const byProof = await split('bot_proof');
  expect(byProof.series.find(({ value }) => value === 'range')?.total).toBeGreaterThan(0);
  expect(byProof).toMatchObject({ isExact: true, other: { total: 0 } });
  const summary = await manage<{ total: number }>(stack(), '/protect/traffic-summary', { bot: 'bytespider' });
  expect(summary.total).toBe(2);
  const both = await call('/protect/traffic-summary', { bot: 'bytespider', source: 'bot' });
  expect([both.status, await both.text()]).toEqual([400, expect.stringContaining('must not be sent together')]);
});

test('a bot that the policy charges gets 402 with the price and the licence, and may read robots.txt', async () => {
  const charge = { price: 'USD 0.01', licenseUrl: 'https://shop.example/licence' };
  await policy({ botPolicy: { charge, overrides: [{ bot: 'bingbot', action: 'charge' }] } });
  const refused = await visit(BING);
  expect(refused.status).toBe(402);
  expect(refused.headers.get('crawler-price')).toBe('USD 0.01');
  expect(refused.headers.get('link')).toBe('<https://shop.example/licence>; rel="license"');
  expect(refused.headers.get('accept-signature')).toBeNull();
  expect((await visit(BING, '/robots.txt')).status).toBe(200);
  const claimed = await visit({ ...BING, from: ELSEWHERE });
  expect(claimed.status).toBe(402);
  expect(claimed.headers.get('accept-signature')).toContain('tag="web-bot-auth"');
});

test('a proved bot is never challenged by risk, budget or a missing session, on api paths too', async () => {
  const strict = { ...closed, challengeThreshold: 0.01, ignoredDetectors: [], pendingBudget: 1 };
  for (const action of ['allow', 'inherit']) {
    await policy({ ...strict, botPolicy: { overrides: [{ bot: 'bingbot', action }] } });
    const visits: [Visit, string][] = ['/echo', '/api/echo', '/echo.css'].map((path) => [BING, path]);
    visits.push([{ ...BING, method: 'POST' }, '/echo']);
    const records = await Promise.all(visits.map(async ([one, path]) => logged((await visit(one, path)).id)));
    expect([action, records.map(({ decision }) => decision)]).toEqual([action, visits.map(() => 'allow')]);
    expect((await visit({ from: '192.0.2.3' })).status).toBe(403);
    expect((await visit({ from: '192.0.2.3' }, '/api/echo')).status).toBe(401);
    expect((await visit({ ...BING, from: ELSEWHERE }, '/api/echo')).status).toBe(403);
  }
});

test('proved previews and feed readers get the page, and for a false one the origin is not asked', async () => {
  await policy({ ...closed, botPolicy: { preset: 'search-only' } });
  for (const [index, bot] of [PREVIEW, FEED].entries()) {
    const path = `/echo/shared-${index}`;
    expect((await visit(bot, path)).status).toBe(200);
    expect(await hitsOf(stack(), path)).toBe(1);
    for (const from of [ELSEWHERE, '192.0.2.2', '198.51.100.7']) {
      expect((await visit({ ...bot, from }, path)).status).toBe(403);
    }
    expect(await hitsOf(stack(), path)).toBe(1);
  }
});

test('no user agent of the catalogue’s lists is proved from 192.0.2.1', async () => {
  await policy({});
  const { userAgents } = JSON.parse(readFileSync('test/fixtures/bots/user-agents.json', 'utf8')) as {
    userAgents: string[];
  };
  const sample = userAgents.filter((_, index) => index % 12 === 0);
  for (let start = 0; start < sample.length; start += 20) {
    const some = sample.slice(start, start + 20);
    await Promise.all(some.map((agent) => visit({ from: ELSEWHERE, agent }, '/echo/sample')));
    await Promise.all(some.map((agent) => visit({ from: ELSEWHERE, agent }, '/echo/sample')));
  }
  const records = await logOf('/echo/sample', 2 * sample.length);
  expect(records.filter(({ bot }) => bot !== null).length).toBeGreaterThan(2 * sample.length - 20);
  expect(new Set(records.map(({ bot }) => bot?.proof))).toEqual(new Set(['claimed', 'impostor', undefined]));
});

describe('an explanation', () => {
  const explain = (visitor: object) =>
    manage<{ input: string; explain: string; bot: object | null }>(stack(), '/protect/access-rules/explain', visitor);

  test('of a visitor says who they are taken for, and what the bot policy says of them', async () => {
    const overrides = [{ bot: 'bingbot', path: '/drafts/', action: 'block' }];
    await policy({ ipCategoryRules: { datacenter: 'challenge' }, botPolicy: { overrides } });
    const bing = { userAgent: BING.agent, ipCategories: ['datacenter'] };
    expect(await explain({ ...bing, ip: BING.from })).toMatchObject({
      decision: 'allow',
      input: 'bot',
      decidedBy: 'bot:bingbot',
      bot: { id: 'bingbot', behaviours: ['search'], proof: 'range', action: 'allow' },
    });
    expect(await explain({ ...bing, ip: BING.from, path: '/drafts/1?x' })).toMatchObject({
      decision: 'block',
      bot: { action: 'block' },
    });
    expect(await explain({ ...bing, ip: ELSEWHERE })).toMatchObject({
      decision: 'challenge',
      input: 'bot',
      bot: { id: 'bingbot', proof: 'claimed', action: 'challenge' },
    });
    expect(await explain({ userAgent: 'GPTBot/1.2', ip: ELSEWHERE })).toMatchObject({
      decision: 'block',
      bot: { id: 'gptbot', proof: 'impostor', action: 'block' },
    });
    expect(await explain({ bot: { id: 'yandexbot', proof: 'dns' }, ip: ELSEWHERE })).toMatchObject({
      decision: 'allow',
      explain: expect.stringMatching(/^Allowed by bot with a host name of yandexbot;/),
    });
    expect(await explain({ bot: { id: 'agent.test', proof: 'signature' } })).toMatchObject({
      decision: 'challenge',
      bot: { behaviours: ['agent'], action: 'challenge' },
    });
    expect(await explain({ userAgent: FIREFOX, ip: ELSEWHERE })).toMatchObject({ input: 'default', bot: null });
    await expect(explain({ bot: { id: 'nobody', proof: 'range' } })).rejects.toThrow(/400.*bot\.id/);
    await expect(explain({ path: 'drafts' })).rejects.toThrow(/400.*path/);
  });

  test('of a request, and a preview of rules, know the bot', async () => {
    await policy({ ipCategoryRules: { datacenter: 'challenge' } });
    const since = stackNow() - 1000;
    const { id } = await visit({ ...BING, asn: DATACENTER }, '/echo/explained');
    await logged(id);
    const { table } = await manage<{ table: object[] }>(stack(), '/protect/verdicts/explain', { requestId: id });
    expect(table).toContainEqual(
      expect.objectContaining({ input: 'bot', by: 'bot:bingbot', verdict: 'allow', outcome: 'decided' }),
    );
    expect(table).toContainEqual(expect.objectContaining({ input: 'category', outcome: 'lifted', liftedBy: 'bot' }));
    const changes = async (verdict: string) => {
      const rules = [{ type: 'asn', value: DATACENTER, verdict }];
      const { samples } = await manage<{ samples: { requestId: string; to: string }[] }>(
        stack(),
        '/protect/access-rules/preview',
        { rules, since },
      );
      return samples.find(({ requestId }) => requestId === id)?.to;
    };
    expect([await changes('block'), await changes('allow')]).toEqual(['block', undefined]);
  });
});

describe('a host name', () => {
  const YANDEX = 'Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)';
  const reverse = (ip: string): string => `${ip.split('.').toReversed().join('.')}.in-addr.arpa PTR`;
  function named(ip: string, forward: string): void {
    const host = `${ip.replaceAll('.', '-')}.spider.yandex.com.`;
    servers.names.set(reverse(ip), [{ type: 12, data: host }]);
    servers.names.set(`${host} A`, [{ type: 1, data: forward }]);
  }
  const questionsOf = (ip: string): number => servers.questions.filter((one) => one === reverse(ip)).length;

  test('that leads back to the address proves the bot behind the first response', async () => {
    named('5.255.253.1', '5.255.253.1');
    const first = await visit({ from: '5.255.253.1', agent: YANDEX });
    expect((await logged(first.id)).bot).toMatchObject({ id: 'yandexbot', proof: 'claimed' });
    const { status, record } = await until({ from: '5.255.253.1', agent: YANDEX }, 'dns');
    expect([status, record.decided_by]).toEqual([200, 'bot:yandexbot']);
    expect(questionsOf('5.255.253.1')).toBe(1);
  });

  test('that leads elsewhere, or is missing, makes an impostor, and is not looked up again', async () => {
    named('5.255.253.2', '5.255.253.1');
    for (const from of ['5.255.253.2', '5.255.253.3']) {
      const { status } = await until({ from, agent: YANDEX }, 'impostor');
      expect([from, status]).toEqual([from, 403]);
      await Promise.all(Array.from({ length: 20 }, () => visit({ from, agent: YANDEX })));
      expect([from, questionsOf(from)]).toEqual([from, 1]);
    }
  });

  test('that nobody can look up leaves the bot claimed', async () => {
    servers.names.set(reverse('5.255.253.4'), 'broken');
    const from = '5.255.253.4';
    await visit({ from, agent: YANDEX }, '/echo/no-dns');
    await eventually(
      async () => questionsOf(from),
      (count) => count > 0,
    );
    for (let again = 0; again < 5; again++) await visit({ from, agent: YANDEX }, '/echo/no-dns');
    const records = await logOf('/echo/no-dns', 6);
    expect(new Set(records.map(({ bot }) => bot?.proof))).toEqual(new Set(['claimed']));
  });
});

test('a bot that the account adds is known at the edge, and no longer once it is removed', async () => {
  const ours = { from: '20.9.9.1', agent: 'OurBot/2.0' };
  const botOf = async (visitor: typeof ours) => (await logged((await visit(visitor)).id)).bot;
  const bot = { id: 'ourbot', behaviours: ['monitor'], patterns: ['OurBot/'], networks: ['20.9.9.0/24'] };
  await manage(stack(), '/protect/bots/own/add', { ...bot, isComplete: true });
  await eventually(
    () => botOf(ours),
    (found) => found?.id === 'ourbot' && found.proof === 'range',
  );
  expect(await botOf({ ...ours, from: '192.0.2.1' })).toMatchObject({ id: 'ourbot', proof: 'impostor' });
  await manage(stack(), '/protect/bots/own/remove', { id: 'ourbot' });
  await eventually(
    () => botOf(ours),
    (found) => found === null,
  );
});

test('the report says what robots.txt tells each bot, what it did and got, and lists impostors apart', async () => {
  const charge = { price: 'USD 0.01', licenseUrl: 'https://shop.example/licence' };
  await policy({
    botPolicy: {
      charge,
      overrides: [
        { bot: 'bingbot', path: '/drafts/', action: 'charge' },
        { bot: 'mojeekbot', path: '/drafts/', action: 'block' },
      ],
    },
  });
  const { host } = new URL(stack().edgeUrl);
  const crawler = { from: '192.0.2.9', agent: 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)' };
  const since = stackNow() - 600_000;
  const report = () => manage<BotTrafficResponse>(stack(), '/protect/bots/traffic', { since, limit: 500 });
  const before = await report();
  // The edge has the new policy once it charges. The file is known once anybody has fetched it.
  await eventually(
    () => visit(BING, '/drafts/1'),
    ({ status }) => status === 402,
  );
  await visit(BING, '/robots.txt');
  await visit(crawler, '/anything');
  await visit({ ...BING, from: '192.0.2.1' }, '/drafts/1');
  const { id } = await visit(BING, '/drafts/2');
  await logged(id);
  const of = ({ bots }: BotTrafficResponse, wanted: string) => bots.find((bot) => bot.id === wanted);
  const answer = await eventually(report, (now) => (of(now, 'bingbot')?.robots?.disallowed ?? 0) >= 2);
  const bing = of(answer, 'bingbot')!;
  expect(bing).toMatchObject({ name: 'bingbot', behaviours: ['search'] });
  expect(bing.robots).toMatchObject({ extent: 'parts' });
  expect(bing.robots?.examples).toContainEqual({
    host,
    path: '/drafts/2',
    rule: 'Disallow: /drafts/',
    total: 1,
  });
  expect(bing.robots?.disallowedProved).toBeGreaterThanOrEqual(2);
  expect(bing.charge - (of(before, 'bingbot')?.charge ?? 0)).toBeGreaterThanOrEqual(2);
  const { range, dns, signature, claimed } = bing.proofs;
  expect(range + dns + signature + claimed).toBe(bing.total);
  expect(bing.allow + bing.challenge + bing.block + bing.charge).toBe(bing.total);
  expect(bing.share).toBeCloseTo(bing.total / answer.total, 10);
  const training = [of(answer, 'gptbot'), answer.impostors.find((one) => one.id === 'gptbot')];
  expect(Math.max(...training.map((one) => one?.block ?? 0))).toBeGreaterThan(0);
  // From the test above: who used the name of a bot that proves each of its requests.
  expect(answer.impostors).toContainEqual(expect.objectContaining({ id: 'ourbot' }));
  expect(answer).toMatchObject({ isExact: true, robotsIsExact: true, other: { bots: 0, total: 0 } });
  // The log has the same requests.
  const ofBing = { bot: 'bingbot', since: answer.since, until: answer.until };
  const proofs = ['range', 'dns', 'signature', 'claimed'];
  const { total } = await manage<{ total: number }>(stack(), '/protect/verdicts', { ...ofBing, proof: proofs });
  expect(total).toBe(bing.total);

  const words = ['src/cli/gatehouse.ts', 'bots', 'traffic', '--text', '--state', stack().stateDir];
  words.push('--since', String(since));
  const { stdout } = await promisify(execFile)(process.execPath, words);
  expect(stdout).toMatch(new RegExp(`^bingbot +search +${bing.total} `, 'm'));
  expect(stdout).toMatch(new RegExp(`^bingbot +1  ${host}/drafts/2 +Disallow: /drafts/$`, 'm'));
});
