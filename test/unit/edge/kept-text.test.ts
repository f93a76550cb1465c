/**
 * Visitors can send long texts: 60 kB of a header or an address pass the Workers runtime. What an isolate remembers of
 * such a text must not keep the whole of it in memory.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { mintSessionJwt } from '../../../src/risk/session-token.ts';
import { visitorBinding } from '../../../src/address/visitor-binding.ts';
import { isBotUserAgent } from '../../../src/risk/bot-user-agent.ts';
import { deviceType } from '../../../src/address/device-type.ts';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import { Clearances, clearanceCookie } from '../../../src/edge/session/clearances.ts';
import { unjudged } from '../../../src/edge/decide/context.ts';
import { answerWith } from '../../../src/edge/step/step.ts';
import { recordOf } from '../../../src/edge/step/record.ts';
import { Sessions } from '../../../src/edge/session/sessions.ts';
import { NOW_MS, configOf, factsOf, signalsOf } from './edge-fixture.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const LONG_CHARS = 60_000;
const VISITS = 400;
/** A twelfth of what the visits send. */
const KEPT_MAX_BYTES = 2_000_000;

/** Growth of the heap over all visits, while the results of `visit` are kept. */
async function keptBy(visit: (index: number, filler: string) => unknown): Promise<number> {
  const answers: unknown[] = [];
  // The first visits compile code and fill the test's own caches.
  for (let index = 0; index < 20; index++) answers.push(await visit(index, ''));
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < VISITS; index++) {
    // One flat string each, as a header is.
    const filler = Buffer.alloc(LONG_CHARS, String(index % 10)).toString('latin1');
    answers.push(await visit(index, filler));
  }
  collectGarbage();
  const grown = process.memoryUsage().heapUsed - before;
  expect(answers).toHaveLength(VISITS + 20);
  return grown;
}

describe('only a small part of a long text is kept', () => {
  test('of user agents by the memory of bots', async () => {
    const kept = await keptBy((index, filler) => isBotUserAgent(`Agent/${index} ${filler}`.slice(0, 50_000)));
    expect(kept).toBeLessThan(KEPT_MAX_BYTES);
  });

  test('of user agents, by the device types', async () => {
    expect(await keptBy((index, filler) => deviceType(`Agent/${index} ${filler}`, null))).toBeLessThan(KEPT_MAX_BYTES);
  });

  test('of cookie headers, by the sessions', async () => {
    const config = await configOf();
    const signals = signalsOf();
    const sessions = new Sessions(() => false);
    const bnd = await visitorBinding(signals.ip, signals.userAgent);
    const iat = NOW_MS / 1000;
    const kept = await keptBy(async (index, filler) => {
      const jti = `jti-${index}-${filler.length}`;
      const claims = { jti, sub: config.instanceId, iat, exp: iat + 100, sxp: iat + 3600, risk: 0, bnd };
      const jwt = await mintSessionJwt(config.sessionKeyOf('k2')!, 'k2', claims);
      const header = Buffer.from(`a=${filler}; protect_session=${jti}|${jwt}`).toString('latin1');
      const reading = await sessions.read(header, config, signals, NOW_MS);
      expect(reading).toMatchObject({ status: 'active', jti });
      return reading;
    });
    expect(kept).toBeLessThan(KEPT_MAX_BYTES);
  });

  test('of cookie headers and user agents, by the clearances', async () => {
    const config = await configOf();
    const clearances = new Clearances(null);
    const kept = await keptBy(async (index, filler) => {
      const signals = signalsOf({ userAgent: `Agent/${index} ${filler}` });
      const v4 = await visitorBinding(signals.ip, signals.userAgent);
      const iat = NOW_MS / 1000;
      const jti = `jti-${index}`;
      const claims = {
        sub: config.instanceId,
        host: 'site.test',
        jti,
        level: 1,
        kind: 'pow' as const,
        powDifficulty: 4,
        eased: false,
        iat,
        exp: iat + 100,
        v4,
        v6: null,
        asn: null,
        country: null,
      };
      const [pair = ''] = (await clearanceCookie(claims, config, NOW_MS)).split(';');
      const header = Buffer.from(`a=${filler}; ${pair}`).toString('latin1');
      const reading = await clearances.read(
        factsOf('/', { headers: { ...factsOf().headers, cookie: header }, signals }),
        config,
      );
      expect(reading).toMatchObject({ jti, level: 1 });
      return reading;
    });
    expect(kept).toBeLessThan(KEPT_MAX_BYTES);
  });

  test('of addresses and user agents, by records waiting to be sent', async () => {
    const from = { instanceId: 'inst', version: '1', isolate: 'i', seq: 0 };
    const kept = await keptBy((index, filler) => {
      const url = Buffer.from(`https://a-site-of-some-length.test/some/path/${index}?q=${filler}`).toString('latin1');
      const facts = factsOf('/', {
        target: canonicalTarget(url)!,
        signals: signalsOf({ userAgent: Buffer.from(`A/${filler}`).toString('latin1') }),
      });
      const step = answerWith(unjudged(facts), { kind: 'block' });
      const record = recordOf({ step, response: new Response(null, { status: 200 }), originMs: null }, from);
      expect(record).toMatchObject({ host: 'a-site-of-some-length.test', request_path: `/some/path/${index}` });
      return record;
    });
    expect(kept).toBeLessThan(KEPT_MAX_BYTES);
  });
});
