/** The console's pages about bots. Everything shown is what the API says. */
import { expect, test } from 'vitest';
import { quickRules, signalsOf } from '../e2e/edge-visitor.ts';
import { browse } from '../support/browse.ts';
import { useConsole } from '../support/console.ts';
import { eventually, manage } from '../support/stack.ts';

const console = useConsole({ edgeVars: quickRules });
const BINGBOT = 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)';

async function comeAsBing(from: string, path: string): Promise<void> {
  const headers = { ...signalsOf(console.stack(), { from }), 'user-agent': BINGBOT };
  await (await browse(console.stack().edgeUrl + path, { headers })).arrayBuffer();
}

test('the page Bots shows what the bot policy decided', async () => {
  const { page } = console;
  // The table of bots comes to the edge behind responses.
  await eventually(
    async () => {
      await comeAsBing('157.55.39.1', '/bot-decided');
      return manage<{ total: number }>(console.stack(), '/protect/verdicts', { sources: ['bot'] });
    },
    ({ total }) => total > 0,
  );
  await console.open('/bots');
  await page.locator('nav[aria-label="Bots"] [aria-current="page"]', { hasText: 'Traffic' }).waitFor();
  expect(await page.getByRole('figure', { name: 'Requests decided by the bot policy over time' }).count()).toBe(1);
});
