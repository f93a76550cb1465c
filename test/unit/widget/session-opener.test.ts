/** When the protect script opens a session: without one, and when the JWT of its session has expired. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { EnvironmentReport } from '../../../src/contract/edge/environment-report.ts';
import { SessionOpener } from '../../../src/widget/protect/session-opener.ts';
import { sessionId } from '../../../src/widget/session-cookie.ts';

const cookieWith = (exp: number): string => {
  const claims = Buffer.from(JSON.stringify({ jti: 'ü', exp })).toString('base64url');
  return `other=1; protect_session=4abc|head.${claims}.signature`;
};
const nothingFound = async (): Promise<EnvironmentReport> => ({ v: 1, traits: [] });
const nowSeconds = Math.floor(Date.now() / 1000);

async function callsWith(cookie: string): Promise<{ calls: number; open: boolean }> {
  const document = { cookie };
  let calls = 0;
  vi.stubGlobal('document', document);
  vi.stubGlobal('fetch', async () => {
    calls++;
    document.cookie = cookieWith(nowSeconds + 300);
    return Response.json({ jti: '4abc' });
  });
  const open = await new SessionOpener('/__protect', nothingFound).ensure();
  return { calls, open };
}

afterEach(() => vi.unstubAllGlobals());

describe('a page', () => {
  test.each([
    ['without a session opens one', 'other=1', 1],
    ['with a valid one opens none', cookieWith(nowSeconds + 60), 0],
    ['with an expired JWT opens a new one', cookieWith(nowSeconds - 1), 1],
    ['with a cookie that a framework encoded reads its JWT', encodeURI(cookieWith(nowSeconds - 1)), 1],
    ['with an id but no JWT leaves it to the edge', 'protect_session=4abc', 0],
    ['with a malformed JWT leaves it to the edge', 'protect_session=4abc|a.%%%.c', 0],
  ])('%s', async (_, cookie, calls) => {
    expect(await callsWith(cookie)).toEqual({ calls, open: true });
  });

  test('without cookies requests a session only once', async () => {
    const document = { cookie: '' };
    let calls = 0;
    vi.stubGlobal('document', document);
    vi.stubGlobal('fetch', async () => {
      calls++;
      return Response.json({});
    });
    const sessions = new SessionOpener('/__protect', nothingFound);
    expect([await sessions.ensure(), await sessions.ensure(), calls]).toEqual([false, false, 1]);
    expect(sessionId()).toBeNull();
  });
});
