// A stack of its own: its service has never read a list of networks, as in the first seconds of a new gate.
/** Names of bots with published networks, while the lists of them are not loaded. */
import { afterAll, expect, test } from 'vitest';
import { startBotServers } from '../support/bot-servers.ts';
import { eventually, useOwnStack } from '../support/stack.ts';
import { BING, botVisits, PREVIEW } from './bot-visits.ts';

const servers = await startBotServers([]);
const unread = { ...servers.serviceVars, BOT_RANGES_BASE: 'http://127.0.0.1:1' };
afterAll(() => servers.close());
const stack = useOwnStack({ fresh: true, serviceVars: unread });
const { visit, logged } = botVisits(stack);

test('a name of a search engine is challenged as long as its list is not read, and a bot with other networks is a visitor like others', async () => {
  // The edge has the names of bots as soon as the service has written them down, and the lists never.
  await eventually(
    async () => logged((await visit({ from: '192.0.2.1', agent: PREVIEW.agent })).id),
    ({ bot }) => bot !== null,
  );
  const first = await visit({ ...BING, from: '192.0.2.1' });
  expect(first.status).toBe(403);
  expect(await logged(first.id)).toMatchObject({ decision: 'challenge', bot: { id: 'bingbot', proof: 'claimed' } });
  const other = await visit({ from: '192.0.2.1', agent: PREVIEW.agent });
  expect(other.status).toBe(200);
  expect(await logged(other.id)).toMatchObject({
    decision: 'allow',
    bot: { id: 'facebookexternalhit', proof: 'claimed' },
  });
});
