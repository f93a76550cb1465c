/**
 * The Worker of the last rows of `npm run bench -- bots`: reads the bot of requests as the gate does, with a table and
 * before any is loaded.
 */
import { openBotTable, type BotTable } from '../../src/bots/open-bot-table.ts';
import { ProofMemory } from '../../src/bots/proof-memory.ts';
import { decodeBase64url } from '../../src/bytes/base64url.ts';
import { KnownBots } from '../../src/edge/decide/known-visitor.ts';
import { failed } from '../../src/result.ts';
import { factsOf, signalsOf } from '../../test/unit/edge/edge-fixture.ts';
import type { BotWork } from './bot-work.ts';

export default {
  async fetch(call: Request): Promise<Response> {
    const { file, userAgents, times }: BotWork = await call.json();
    const table = file === null ? null : opened(decodeBase64url(file)!);
    const away = async () => failed({ kind: 'unreachable' });
    const bots = new KnownBots(() => table, new ProofMemory({ keys: away, name: away, spendNonce: away }));
    const requests = userAgents.map((userAgent) =>
      factsOf('/', {
        request: new Request('https://shop.example/', { headers: { 'user-agent': userAgent } }),
        signals: signalsOf({ userAgent }),
      }),
    );
    let named = 0;
    for (let time = 0; time < times; time++) {
      for (const facts of requests) if (bots.read(facts, () => {}, false) !== null) named++;
    }
    return Response.json({ named });
  },
};

function opened(file: Uint8Array): BotTable {
  const result = openBotTable(file);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}
