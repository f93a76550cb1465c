/**
 * The edge for any service, in front of this one, through the local stack. It has an API key and the site's secret and
 * nothing else. A rule made by the management API is enforced after the next scheduled run.
 */
import { beforeAll, expect, test } from 'vitest';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { solveWork } from '../support/session.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { cookiesOf, quickRules, solvedToken } from './edge-visitor.ts';

const stack = useStack();
const as = (name: string) => ({ headers: { 'user-agent': `Mozilla/5.0 ${name}/1` } });

beforeAll(async () => {
  const { apiKey, siteKey, secretKey } = stack();
  const rules = [
    { type: 'userAgent', value: 'BlockMe', verdict: 'block' },
    { type: 'userAgent', value: 'ChallengeMe', verdict: 'challenge' },
  ];
  await manage(stack(), '/protect/access-rules/create', { rules });
  await stack().restartEdge({
    ...quickRules,
    RULES_SOURCE: 'management-api',
    API_KEY: apiKey,
    SITE_KEY: siteKey,
    SITE_SECRET: secretKey,
    LOG_SINKS: 'console',
  });
  await eventually(
    () => stack().runScheduled(),
    (isDone) => isDone,
  );
});

test('rules from the management API are enforced', async () => {
  const answered = () => fetch(`${stack().edgeUrl}/echo`, as('BlockMe'));
  const blocked = await eventually(answered, ({ status }) => status === 403);
  expect(blocked.headers.get('x-protect-decision')).toBe('block');
  expect((await fetch(`${stack().edgeUrl}/echo`, as('Person'))).status).toBe(200);
});

test('its challenge page is in the visitor’s language and a solution gives clearance', async () => {
  const { headers } = as('ChallengeMe');
  const asked = await fetch(`${stack().edgeUrl}/echo`, { headers: { ...headers, 'accept-language': 'fa' } });
  expect(await asked.text()).toContain('<html lang="fa" dir="rtl"');
  const script = await fetch(`${stack().edgeUrl}/__protect/widget.js`);
  expect(script.status).toBe(200);
  const token = await solvedToken(stack(), headers);
  const verified = await fetch(`${stack().edgeUrl}/__protect/verify`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const cookie = cookiesOf(verified);
  expect((await fetch(`${stack().edgeUrl}/echo`, { headers: { ...headers, cookie } })).status).toBe(200);
});

/** As the widget gets it from the service itself. */
async function widgetToken(): Promise<string> {
  const { serviceUrl, siteKey } = stack();
  const post = async <Answer>(path: string, body: object): Promise<Answer> => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await fetch(`${serviceUrl}/captcha/v1/${path}`, init)).json() as Promise<Answer>;
  };
  const asked = { siteKey, currentUrl: `${stack().edgeUrl}/login`, capabilities: { script: true } };
  const { challenge, pow } = await post<ChallengeResponse>('challenge', asked);
  const { token } = await post<SolutionResponse>('solution', { challenge, solution: await solveWork(pow!) });
  return token!;
}

test('its verifications are none of a server of the site, for the guide', async () => {
  const { serviceUrl, edgeUrl, siteKey, secretKey } = stack();
  const verifiedAt = async () =>
    (await manage<{ backendVerifiedAt: number | null }>(stack(), '/site/get', { siteKey })).backendVerifiedAt;
  const post = async (url: string, body: object): Promise<unknown> => {
    const headers = { ...as('ChallengeMe').headers, 'content-type': 'application/json' };
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  expect(await post(`${edgeUrl}/__protect/verify`, { token: await widgetToken() })).toMatchObject({ verified: true });
  expect(await verifiedAt()).toBeNull();
  const answer = await post(`${serviceUrl}/siteverify`, { secret: secretKey, token: await widgetToken() });
  expect(answer).toMatchObject({ verified: true });
  await eventually(verifiedAt, (at) => at !== null);
});
