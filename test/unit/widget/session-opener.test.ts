/** When the protect script opens a session, when it works for one, and when it stops. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { SessionOpener } from '../../../src/widget/protect/session-opener.ts';
import { environmentOf } from '../risk/session-facts.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const WINDOW_MS = 600_000;
const cookieWith = (exp: number, jti = '4abc'): string => {
  const claims = Buffer.from(JSON.stringify({ jti: 'ü', exp })).toString('base64url');
  return `other=1; protect_session=${jti}|head.${claims}.signature`;
};
const valid = (jti?: string): string => cookieWith(NOW_MS / 1000 + 300, jti);
const expired = cookieWith(NOW_MS / 1000 - 1);
const asChallenge: Answer = { status: 200, body: { challenge: 'sealed', pow: { lane: 'rsw' }, expiresAt: 0 } };
const asSession = { status: 200, body: { jti: '4abc' } };
const refused = { status: 400, body: { error: { key: 'CAPTCHA.INVALID_CAPTCHA_CHALLENGE' } } };
const limited = { status: 429, body: { error: { key: 'API.RATE_LIMITED' } } };

interface Answer {
  status: number;
  body: object;
  cookie?: string;
}
/** What the edge answers: to a page that asks, and to one that has solved. */
interface Edge {
  asked?: Answer;
  solved?: Answer;
  /** The page comes no further than this. */
  halfWay?: () => void;
}

function pageWith(cookie: string, edge: Edge, browser: { cookieEnabled?: boolean; locks?: LockManager } = {}) {
  const document = { cookie };
  const calls: object[] = [];
  const tasks: object[] = [];
  let works = 0;
  vi.useFakeTimers({ now: NOW_MS });
  vi.stubGlobal('document', document);
  vi.stubGlobal('navigator', { cookieEnabled: true, ...browser });
  vi.stubGlobal('fetch', async (_url: string, { body }: { body: string }) => {
    const sent = JSON.parse(body) as object;
    calls.push(sent);
    const answer =
      'solution' in sent ? (edge.solved ?? { ...asSession, cookie: valid() }) : (edge.asked ?? asChallenge);
    if (answer.cookie !== undefined) document.cookie = answer.cookie;
    return Response.json(answer.body, { status: answer.status });
  });
  const open = () =>
    new SessionOpener({
      url: '/__protect/session',
      prepare: () => ({
        async solve(task, onProgress) {
          works++;
          tasks.push(task);
          if (edge.halfWay === undefined) return { y: 'solved' };
          onProgress(0.5, 'half-way');
          edge.halfWay();
          return new Promise(() => undefined);
        },
      }),
      collect: async () => environmentOf(),
    });
  return { document, calls, sessions: open(), anotherPage: open, tasks, works: () => works };
}

/** `sessionStorage` of one tab. */
function tabStorage(): void {
  const kept = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
}

afterEach(() => {
  vi.useRealTimers();
});

describe('a page', () => {
  test.each([
    ['without a session earns one', 'other=1', 2],
    ['with a valid one calls nobody', valid(), 0],
    ['with an id but no JWT leaves it to the edge', 'protect_session=4abc', 0],
    ['with a malformed JWT leaves it to the edge', 'protect_session=4abc|a.%%%.c', 0],
  ])('%s', async (_, cookie, expected) => {
    const { sessions, calls } = pageWith(cookie, {});
    expect(await sessions.ensure()).toBe(true);
    expect(calls).toHaveLength(expected);
  });

  test.each([
    ['with an expired JWT renews it without work', expired],
    ['with a cookie that a framework encoded reads its JWT', expired.replace('|', '%7C')],
  ])('%s', async (_, cookie) => {
    const { sessions, calls, works } = pageWith(cookie, { asked: { ...asSession, cookie: valid() } });
    expect(await sessions.ensure()).toBe(true);
    expect([calls, works()]).toEqual([[{ capabilities: { bigint: true }, work: true }], 0]);
  });

  test('solves the piece of work that comes with a renewed session', async () => {
    const work = { challenge: 'piece', pow: { lane: 'rsw' } };
    const { sessions, calls, works } = pageWith(expired, {
      asked: { status: 200, body: { ...asSession.body, work }, cookie: valid() },
    });
    await sessions.ensure();
    await sessions.work();
    expect([calls[1], works()]).toMatchObject([{ challenge: 'piece', solution: { y: 'solved' }, work: true }, 1]);
  });

  test('that replaces a session asks for no work, because work would not replace it', async () => {
    const { sessions, calls } = pageWith(valid(), { asked: { ...asSession, cookie: valid('other') } });
    await sessions.renew();
    expect(calls).toEqual([{ capabilities: { bigint: true } }]);
  });

  test('renews an expired session while it is used, and asks once in ten seconds at most', async () => {
    const { sessions, calls, document } = pageWith(valid(), { asked: asSession });
    const renewals: unknown[] = [];
    const use = () => sessions.keep((renewing) => renewals.push(renewing));
    use();
    document.cookie = expired;
    use();
    expect(renewals).toEqual([]);
    vi.setSystemTime(NOW_MS + 10_000);
    use();
    use();
    await Promise.all(renewals);
    expect([renewals.length, calls.length]).toEqual([1, 1]);
  });

  test('sends the solution together with the report of its browser', async () => {
    const { sessions, calls } = pageWith('', {});
    await sessions.ensure();
    const environment = environmentOf();
    const capabilities = { bigint: true };
    const solution = { y: 'solved' };
    expect(calls[1]).toEqual({ challenge: 'sealed', solution, environment, capabilities, work: true });
  });

  test('solves another challenge where the price rose meanwhile', async () => {
    const answers: Answer[] = [asChallenge, { ...asSession, cookie: valid() }];
    const edge: Edge = {
      get solved() {
        return answers.shift()!;
      },
    };
    const { sessions, calls, works } = pageWith('', edge);
    expect(await sessions.ensure()).toBe(true);
    expect([calls.length, works()]).toEqual([3, 2]);
  });

  test('works for more after it opened one, as long as the gate gives pieces', async () => {
    const work = { challenge: 'piece', pow: { lane: 'rsw' } };
    const bodies = [
      { ...asSession.body, work },
      { ...asSession.body, work },
    ];
    const edge: Edge = {
      get solved() {
        return { status: 200, body: bodies.shift() ?? asSession.body, cookie: valid() };
      },
    };
    const { sessions, calls } = pageWith('', edge);
    await sessions.ensure();
    expect(await sessions.work()).toBe(true);
    const piece = { challenge: 'piece', solution: { y: 'solved' }, capabilities: { bigint: true }, work: true };
    expect(calls.slice(2)).toEqual([piece, piece]);
  });

  describe('that is left while it works', () => {
    const pow = { lane: 'rsw', n: 'n', x: 'x', t: 1000 };
    const edge: Edge = { asked: { ...asSession, body: { ...asSession.body, work: { challenge: 'piece', pow } } } };
    const left = async () => {
      tabStorage();
      await new Promise<void>((halfWay) => {
        const { sessions } = pageWith(valid(), { ...edge, halfWay: () => halfWay(sessions.leave()) });
        void sessions.work();
      });
    };

    test('leaves the rest of its piece to the next page of the tab, once', async () => {
      await left();
      const { sessions, calls, tasks, anotherPage } = pageWith(valid(), edge);
      expect(await sessions.work()).toBe(true);
      expect(tasks).toEqual([{ lane: 'rsw', n: 'n', x: 'half-way', t: 500 }]);
      expect(calls).toMatchObject([{ challenge: 'piece', solution: { y: 'solved' } }]);
      await anotherPage().work();
      expect(calls[1]).toEqual({ capabilities: { bigint: true }, work: true });
    });

    test('leaves nothing that the service no longer takes', async () => {
      await left();
      const { sessions, tasks } = pageWith(valid(), edge);
      vi.setSystemTime(NOW_MS + WINDOW_MS);
      await sessions.work();
      expect(tasks).toEqual([pow]);
    });
  });

  test('may repeat a request where no more work is due, and not where it has no session', async () => {
    const { sessions } = pageWith(valid(), { asked: asSession });
    expect(await sessions.work()).toBe(true);
    const other = pageWith('other=1', {});
    expect(await other.sessions.work()).toBe(false);
  });

  test('that is told again and again to work ahead asks once in ten seconds', async () => {
    const { sessions, calls } = pageWith(valid(), { asked: asSession });
    for (let told = 0; told < 100; told++) sessions.workAhead();
    await sessions.work();
    sessions.workAhead();
    expect(calls).toHaveLength(1);
    vi.setSystemTime(NOW_MS + 10_000);
    sessions.workAhead();
    expect(calls).toHaveLength(2);
  });

  test('shares one exchange among its callers', async () => {
    const { sessions, calls } = pageWith('', {});
    expect(await Promise.all([sessions.ensure(), sessions.renew(), sessions.ensure()])).toEqual([true, true, true]);
    expect(calls).toHaveLength(2);
  });

  test('takes the session that another tab opened while it waited', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const locks = {
      async request(_name: string, _options: object, work: () => Promise<unknown>) {
        await released;
        return work();
      },
    } as unknown as LockManager;
    const { sessions, document, calls } = pageWith('', {}, { locks });
    const open = sessions.ensure();
    document.cookie = valid('of-the-other-tab');
    release();
    expect([await open, calls]).toEqual([true, []]);
  });

  test('works for itself where the browser refuses the lock', async () => {
    const locks = { request: () => Promise.reject(new DOMException('', 'SecurityError')) } as unknown as LockManager;
    const { sessions, works } = pageWith('', {}, { locks });
    expect([await sessions.ensure(), works()]).toEqual([true, 1]);
  });
});

describe('a page whose session cannot be opened', () => {
  test('asks for three challenges at most when its solutions are refused', async () => {
    const { sessions, calls, works } = pageWith('', { solved: refused });
    expect([await sessions.ensure(), calls.length, works()]).toEqual([false, 6, 3]);
  });

  test('stops at once when its network has called too often', async () => {
    const { sessions, calls } = pageWith('', { solved: limited });
    expect([await sessions.ensure(), calls.length]).toEqual([false, 2]);
    const { sessions: others, calls: theirs } = pageWith('', { asked: limited });
    expect([await others.ensure(), theirs.length]).toEqual([false, 1]);
  });

  test('works six times in ten minutes, however often its requests are refused', async () => {
    let session = 0;
    const { sessions, document, works } = pageWith('', {});
    for (let request = 0; request < 20; request++) {
      document.cookie = `protect_session=refused-${session++}`;
      await sessions.renew();
    }
    expect(works()).toBe(6);
    vi.setSystemTime(NOW_MS + WINDOW_MS + 1);
    expect([await sessions.renew(), works()]).toEqual([true, 7]);
  });

  test('does not work at all where cookies are off', async () => {
    const { sessions, calls } = pageWith('', {}, { cookieEnabled: false });
    expect([await sessions.ensure(), calls]).toEqual([false, []]);
  });

  test.each([
    ['in one tab', true],
    ['in one page where the tab keeps nothing either', false],
  ])('works once for a cookie that is not kept, %s', async (_, hasStorage) => {
    if (hasStorage) tabStorage();
    const { sessions, anotherPage, works } = pageWith('', { solved: asSession });
    const next = hasStorage ? anotherPage() : sessions;
    expect([await sessions.ensure(), await next.ensure(), await next.renew(), works()]).toEqual([
      false,
      false,
      false,
      1,
    ]);
    vi.setSystemTime(NOW_MS + WINDOW_MS + 1);
    await next.ensure();
    expect(works()).toBe(2);
  });
});

test('a page that comes back from the history opens the session that was cut off', async () => {
  const edge: Edge = { asked: limited };
  const { sessions, works } = pageWith('', edge);
  const cutOff = sessions.ensure();
  const resumed = sessions.resume();
  delete edge.asked;
  expect(await cutOff).toBe(false);
  await resumed;
  expect(works()).toBe(1);
});
