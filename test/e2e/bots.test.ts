/** Bots that say who they are, over HTTP through both Workers: proved, claimed and false names. */
import { expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { quickRules, signalsOf } from './edge-visitor.ts';

const stack = useStack({ edgeVars: quickRules });
const BING = { from: '157.55.39.1', agent: 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)' };

/** A request, and what the log says about it. */
async function visit({ from, agent }: { from: string; agent: string }, path = '/echo') {
  const response = await browse(stack().edgeUrl + path, {
    headers: { ...signalsOf(stack(), { from }), 'user-agent': agent },
  });
  await response.arrayBuffer();
  return { status: response.status, headers: response.headers, id: response.headers.get('x-protect-request-id') };
}
interface Logged {
  bot: { id: string; proof: string } | null;
  source: string;
  decided_by: string;
}
async function logged(requestId: string | null): Promise<Logged> {
  const found = await eventually(
    () => manage<{ verdicts: Logged[] }>(stack(), '/protect/verdicts', { requestId }),
    ({ verdicts }) => verdicts.length === 1,
  );
  return found.verdicts[0]!;
}
/** The table of bots comes to the edge behind responses. */
const proved = () =>
  eventually(
    async () => {
      const { id, status } = await visit(BING);
      return { status, record: await logged(id) };
    },
    ({ record }) => record.bot?.proof === 'range',
  );
/** A management call whose answer is not JSON, or a refusal. */
const call = (path: string, body: object): Promise<Response> =>
  fetch(`${stack().serviceUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack().apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const policy = (members: object) =>
  manage(stack(), '/protect/instances/update', { id: stack().instanceId, monitor: false, ...members });

test('a search engine from its own network passes without a session, and the same name from elsewhere does not', async () => {
  const known = await proved();
  expect(known).toMatchObject({
    status: 200,
    record: { bot: { id: 'bingbot' }, source: 'bot', decided_by: 'bot:bingbot' },
  });
  const other = await visit({ ...BING, from: '192.0.2.1' });
  const record = await logged(other.id);
  expect(record.bot?.id).toBe('bingbot');
  expect(['claimed', 'impostor']).toContain(record.bot?.proof);
  const visitor = await visit({ from: '192.0.2.2', agent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' });
  expect((await logged(visitor.id)).bot).toBeNull();
});

test('a bot that the policy charges gets 402 with the price and the licence, and may read robots.txt', async () => {
  await proved();
  const charge = { price: 'USD 0.01', licenseUrl: 'https://shop.example/licence' };
  await policy({ botPolicy: { charge, overrides: [{ bot: 'bingbot', action: 'charge' }] } });
  const refused = await eventually(
    () => visit(BING),
    ({ status }) => status === 402,
  );
  expect(refused.headers.get('crawler-price')).toBe('USD 0.01');
  expect(refused.headers.get('link')).toBe('<https://shop.example/licence>; rel="license"');
  expect((await visit(BING, '/robots.txt')).status).toBe(200);
  const claimed = await visit({ ...BING, from: '192.0.2.1' });
  expect(claimed.status).toBe(402);
  expect(claimed.headers.get('accept-signature')).toContain('tag="web-bot-auth"');
});

test('the log is filtered by bot and by proof, and counts both', async () => {
  await proved();
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
