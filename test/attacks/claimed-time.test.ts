/**
 * A page's telemetry comes from the visitor's machine, so a program can write its own. These clients open sessions
 * honestly and then claim what takes a person time: minutes of reading, typing and moving the mouse, all at once.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { RiskDetector } from '../../src/contract/edge/risk-detectors.ts';
import type { TelemetryReport } from '../../src/contract/edge/page-reports.ts';
import { signalsOf } from '../e2e/edge-visitor.ts';
import { FIREFOX, browse } from '../support/browse.ts';
import { sessionCookieAt } from '../support/edge-session.ts';
import { expectRows } from '../support/rows.ts';
import { manage, useStack } from '../support/stack.ts';
import { reportOf } from '../unit/risk/session-facts.ts';

const stack = useStack();
let networks = 0;

interface Client {
  jti: string;
  headers: Record<string, string>;
}
interface History {
  scores: { risk_score: number; parts: { detector: RiskDetector }[] }[];
}
interface Sent {
  status: number;
  body: { error?: { code: number; key: string; message: string } };
}

/** In a network of their own. */
async function newClient(network = networks++): Promise<Client> {
  const headers = { 'user-agent': FIREFOX, ...signalsOf(stack(), { from: `10.${network}.0.1`, country: 'DE' }) };
  const cookie = await sessionCookieAt(stack().edgeUrl, headers);
  const value = decodeURIComponent(cookie.slice(cookie.indexOf('=') + 1));
  return { jti: value.split('|')[0]!, headers: { ...headers, cookie } };
}

async function send({ headers }: Client, report: unknown): Promise<Sent> {
  const response = await browse(`${stack().edgeUrl}/__protect/telemetry`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(report),
  });
  return { status: response.status, body: (await response.json()) as Sent['body'] };
}

async function riskOf({ jti }: Client): Promise<{ score: number; fired: RiskDetector[] }> {
  const { scores } = await manage<History>(stack(), '/protect/risk-history', { jti });
  const last = scores.at(-1)!;
  return { score: last.risk_score, fired: last.parts.map(({ detector }) => detector) };
}

/** A person who reads, moves the mouse and types for 45 seconds. */
const claimed = (changes: Partial<TelemetryReport> = {}): TelemetryReport =>
  reportOf({ elapsedMs: 45_000, visibleMs: 45_000, firstInteractionMs: 900, pointerMoves: 900, keys: 60, ...changes });

let nobody: Client;
beforeAll(async () => {
  nobody = await newClient();
});

describe('a report that claims more time than its session has lived', () => {
  test('is refused and raises the score', () =>
    expectRows(
      [
        ['45 seconds of use', claimed()],
        ['a day', claimed({ elapsedMs: 86_400_000, visibleMs: 86_400_000 })],
        ['a page in view for longer than it was open', claimed({ elapsedMs: 500, visibleMs: 45_000 })],
        ['input later than now', claimed({ elapsedMs: 500, visibleMs: 500, firstInteractionMs: 30_000 })],
        [
          'all the input of a minute in half a second',
          claimed({ elapsedMs: 500, visibleMs: 500, firstInteractionMs: 9 }),
        ],
      ],
      async ([, report]) => {
        const client = await newClient();
        const { status, body } = await send(client, report);
        expect(status).toBe(400);
        expect(body).toMatchObject({ error: { code: 400, key: 'API.INVALID_BODY', message: expect.any(String) } });
        expect(await riskOf(client)).toEqual({ score: 0.4, fired: ['implausible-telemetry'] });
        const { telemetry, session } = await manage<{ telemetry: unknown[]; session: { interacted: boolean } }>(
          stack(),
          '/protect/session-telemetry',
          { jti: client.jti },
        );
        expect([telemetry, session.interacted]).toEqual([[], false]);
      },
    ));
});

describe('twelve sessions of one address that claim to be people', () => {
  test('do not stay at 0 when they claim more than they have lived', async () => {
    const network = networks++;
    const clients: Client[] = [];
    for (let visit = 0; visit < 12; visit++) {
      const client = await newClient(network);
      await send(client, claimed());
      clients.push(client);
    }
    const risks = await Promise.all(clients.map((client) => riskOf(client)));
    expect(risks.filter(({ score }) => score < 0.4)).toEqual([]);
    // From the threshold of cookie cycling on they reach the challenge as well.
    expect(risks.slice(5).map(({ score }) => score)).toEqual(Array.from({ length: 7 }, () => 0.75));
  });

  test('are still one visitor who drops cookies when each claims no more than it may', async () => {
    const network = networks++;
    const fired: RiskDetector[][] = [];
    for (let visit = 0; visit < 12; visit++) {
      const client = await newClient(network);
      const report = reportOf({ elapsedMs: 1500, visibleMs: 1500, firstInteractionMs: 200, pointerMoves: 40 });
      expect((await send(client, report)).status).toBe(202);
      fired.push((await riskOf(client)).fired);
    }
    expect(fired.slice(0, 5).flat()).toEqual([]);
    expect(fired.slice(5)).toEqual(Array.from({ length: 7 }, () => ['cookie-cycling']));
  });
});

test('a malformed report is refused and changes nothing', () =>
  expectRows(
    [
      ['no object', 7],
      ['a number that is none', { ...reportOf(), elapsedMs: 'Infinity' }],
      ['a negative time', { ...reportOf(), elapsedMs: -1 }],
      ['a time beyond every bound', { ...reportOf(), elapsedMs: 1e300 }],
      ['a field of its own', { ...reportOf(), openedAt: 0 }],
      ['a thousand traits', { ...reportOf(), traits: Array.from({ length: 1000 }, () => 'webdriver') }],
    ],
    async ([, report]) => {
      expect((await send(nobody, report)).status).toBe(400);
      expect(await riskOf(nobody)).toEqual({ score: 0, fired: [] });
    },
  ));

test('a report for a session that is not the sender’s changes nothing', async () => {
  const [victim, other] = [await newClient(), await newClient()];
  const theirs = { ...other, headers: { ...other.headers, cookie: victim.headers['cookie'] ?? '' } };
  const { status } = await send(theirs, claimed());
  expect(status).toBe(401);
  expect(await riskOf(victim)).toEqual({ score: 0, fired: [] });
});
