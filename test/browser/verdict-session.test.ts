/**
 * One visitor in a real Chromium, from the first page through a challenge. The session id finds the session's verdicts,
 * its risk history and what its pages reported.
 */
import { beforeAll, expect, test } from 'vitest';
import { eventually, manage, useStack } from '../support/stack.ts';
import { useVisitor } from '../support/visitor.ts';

const CHALLENGED = 'challenged-visitor-of-the-log';

interface Verdict {
  decision: string;
  source: string;
  request_path: string;
  session_status: string;
}
interface Telemetry {
  requests: { total: number };
  telemetry: { report: { pointerMoves: number; keys: number } }[];
}

const stack = useStack();
const visitor = useVisitor({
  context: { userAgent: `Mozilla/5.0 (X11; Linux x86_64) Chrome/153.0 ${CHALLENGED}` },
});

beforeAll(async () => {
  await manage(stack(), '/protect/instances/update', { id: stack().instanceId, autoInject: true });
  await manage(stack(), '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: CHALLENGED, verdict: 'challenge' }],
  });
  const asked = async (userAgent: string): Promise<Response> =>
    fetch(`${stack().edgeUrl}/`, { headers: { 'user-agent': userAgent } });
  await eventually(
    () => asked(CHALLENGED),
    (response) => response.status === 403,
  );
  await eventually(
    async () => (await asked('Mozilla/5.0')).text(),
    (html) => html.includes('protect.js'),
  );
});

test('the session id finds the challenge, the risk history and the telemetry of a session', async () => {
  const first = await visitor.page.goto(`${stack().edgeUrl}/`);
  expect(first?.headers()['x-protect-decision']).toBe('challenge');
  // The page of the challenge opens the session. Only behind it is the challenge solved.
  await visitor.page.getByRole('heading', { name: 'Things for a calm desk' }).waitFor();
  const cookieValue = async (): Promise<string> =>
    (await visitor.context.cookies()).find(({ name }) => name === 'protect_session')?.value ?? '';
  const value = await eventually(cookieValue, (text) => text !== '');
  const jti = decodeURIComponent(value).split('|')[0] ?? '';

  await visitor.page.goto(`${stack().edgeUrl}/?second`, { waitUntil: 'networkidle' });
  await visitor.page.goto(`${stack().edgeUrl}/?third`, { waitUntil: 'networkidle' });
  await visitor.page.mouse.move(20, 20);
  await visitor.page.mouse.move(120, 90, { steps: 5 });
  await visitor.page.keyboard.press('Tab');

  const search = (): Promise<{ verdicts: Verdict[]; total: number }> =>
    manage(stack(), '/protect/verdicts/search', { jti });
  const { verdicts } = await eventually(
    search,
    (found) => found.verdicts.filter(({ request_path }) => request_path === '/').length >= 2,
  );
  expect(verdicts.find(({ request_path }) => request_path === '/')).toMatchObject({
    source: 'clearance',
    session_status: 'active',
  });
  const { history } = await manage<{ history: { risk_score: number | null }[] }>(stack(), '/protect/risk-history', {
    jti,
  });
  expect(history.length).toBeGreaterThanOrEqual(2);
  const session = await eventually(
    () => manage<Telemetry>(stack(), '/protect/session-telemetry', { jti }),
    // A page reports four seconds after it opens.
    ({ telemetry }) => telemetry.some(({ report }) => report.pointerMoves > 0 && report.keys > 0),
  );
  expect(session.requests.total).toBeGreaterThanOrEqual(2);
});
