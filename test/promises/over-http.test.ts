// A stack of its own: the first promise is the command that starts one. The other tests share one.
/**
 * One test over HTTP for each promise of the README, in its order. `in-a-browser.test.ts` has the same promises in
 * Chromium. `npm test` runs both; all other tests that need a running stack belong to `npm run test:all`.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import {
  addRules,
  cookiesOf,
  hitsOf,
  quickRules,
  signalsOf,
  solvedToken,
  type VisitorSignals,
} from '../e2e/edge-visitor.ts';
import { browse, type BrowseInit } from '../support/browse.ts';
import { sessionByLink } from '../support/console.ts';
import { gatehouse } from '../support/gatehouse.ts';
import { npmStart } from '../support/npm-start.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { examplesOf } from './readme.ts';

const FORM = 'application/x-www-form-urlencoded';
const stack = useStack({ edgeVars: quickRules });

function visit(path: string, visitor: VisitorSignals, { headers, ...init }: BrowseInit = {}): Promise<Response> {
  return browse(stack().edgeUrl + path, { ...init, headers: { ...signalsOf(stack(), visitor), ...headers } });
}

async function decisionFor(visitor: VisitorSignals, headers: BrowseInit['headers'] = {}): Promise<string | null> {
  return (await visit('/echo', visitor, { headers })).headers.get('x-protect-decision');
}

test('Quick start: one command starts the site, its gate and the service, and prints a link that signs in', async () => {
  const started = await npmStart();
  try {
    const facts = await started.ready;
    const page = await browse(`${facts.edgeUrl}/`);
    expect([page.status, page.headers.get('x-protect-decision')]).toEqual([200, 'allow']);
    expect(await sessionByLink(facts, facts.signInUrl)).toMatch(/^[^=]+=./);
    const requestId = page.headers.get('x-protect-request-id');
    const logged = () => manage<{ total: number }>(facts, '/protect/verdicts', { requestId });
    await eventually(logged, ({ total }) => total === 1);
  } finally {
    await started.stop();
  }
});

test('Decides at the edge: with the service gone, an allowed request passes and a rule still blocks', async () => {
  const blocked = { from: '198.51.100.9' };
  await addRules(stack(), { type: 'ip', value: blocked.from, verdict: 'block' });
  await stack().stopService();
  try {
    expect(await decisionFor({ from: '198.51.100.10' })).toBe('allow');
    expect(await decisionFor(blocked)).toBe('block');
  } finally {
    await stack().startService();
  }
});

test('Matches networks like a router: the most specific rule wins, in whatever order the rules were created', async () => {
  const rules = [
    { type: 'ip', value: '203.0.113.7', verdict: 'allow' },
    { type: 'countryCode', value: 'AQ', verdict: 'block' },
    { type: 'ipMask', value: '203.0.113.0/28', verdict: 'block' },
    { type: 'asn', value: 64_511, verdict: 'allow' },
    { type: 'ipMask', value: '203.0.113.0/24', verdict: 'challenge' },
  ];
  for (const rule of rules) await addRules(stack(), rule);
  const decisions = [
    await decisionFor({ from: '192.0.2.1', country: 'AQ' }),
    await decisionFor({ from: '192.0.2.1', country: 'AQ', asn: '64511' }),
    await decisionFor({ from: '203.0.113.200', country: 'AQ', asn: '64511' }),
    await decisionFor({ from: '203.0.113.8', country: 'AQ', asn: '64511' }),
    await decisionFor({ from: '203.0.113.7', country: 'AQ', asn: '64511' }),
  ];
  expect(decisions).toEqual(['block', 'allow', 'challenge', 'block', 'allow']);
});

test('Challenges without losing a request: a challenged form reaches the origin once, with its body intact', async () => {
  const visitor = { from: '192.0.2.30' };
  const own = { 'sec-fetch-site': 'same-origin' };
  await addRules(stack(), { type: 'ip', value: visitor.from, verdict: 'challenge' });
  const body = 'message=Ada+%26+Grace%3D%E2%9C%93';
  const challenged = await visit('/echo/kept', visitor, {
    method: 'POST',
    headers: { ...own, 'content-type': FORM },
    body,
  });
  expect(challenged.status).toBe(403);
  const seal = /name="seal" value="([^"]+)"/.exec(await challenged.text())?.[1];

  const token = await solvedToken(stack(), signalsOf(stack(), visitor));
  const verified = await visit('/__protect/verify', visitor, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const resend = (): Promise<Response> =>
    visit('/echo/kept', visitor, {
      method: 'POST',
      headers: { ...own, 'content-type': 'text/plain', cookie: cookiesOf(verified) },
      body: `seal=${seal}\r\n`,
    });
  expect(await (await resend()).json()).toMatchObject({ method: 'POST', bodyLength: body.length });
  expect((await resend()).status).toBe(409);
  expect(await hitsOf(stack(), '/echo/kept')).toBe(1);
});

test('Knows good bots from impostors: a crawler passes from its published network and is challenged elsewhere', async () => {
  const agent = { 'user-agent': 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)' };
  // The gate reads the published networks a moment after its start.
  const elsewhere = (): Promise<string | null> => decisionFor({ from: '192.0.2.40' }, agent);
  await eventually(elsewhere, (decision) => decision === 'challenge');
  expect(await decisionFor({ from: '157.55.39.10' }, agent)).toBe('allow');
});

async function verify(token: string): Promise<boolean> {
  const response = await fetch(`${stack().serviceUrl}/siteverify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret: stack().secretKey, token }),
  });
  return ((await response.json()) as { verified: boolean }).verified;
}

test('Verifies exactly once: of twenty parallel verifications of one token, one returns true', async () => {
  const token = await solvedToken(stack(), {}, { siteKey: stack().siteKey, action: 'contact' });
  const results = await Promise.all(Array.from({ length: 20 }, () => verify(token)));
  expect(results.filter(Boolean)).toHaveLength(1);
});

test('Explains itself: the reference of a blocked request leads to the rule that decided', async () => {
  await addRules(stack(), { type: 'userAgent', value: 'explained-bot', verdict: 'block' });
  const blocked = await visit('/why', {}, { headers: { 'user-agent': 'explained-bot/1.0' } });
  const reference = blocked.headers.get('x-protect-request-id') ?? '';
  expect([blocked.status, await blocked.text()]).toEqual([403, expect.stringContaining(reference)]);
  const why = () => gatehouse(['why', reference, '--text'], { state: stack().stateDir });
  const { output } = await eventually(why, ({ exitCode }) => exitCode === 0);
  expect(output).toContain('Blocked, because an access rule is for user agents with explained-bot.');
});

test('Rules in 60 seconds: the commands of the README block, challenge, show both, and take the rules back', async () => {
  const [create = '', ask = '', addMozilla = '', readAndRemove = ''] = examplesOf('Rules in 60 seconds', 'sh');
  const [read = '', ...remove] = readAndRemove.trim().split('\n');
  const run = async (command: string): Promise<string> => {
    const words = command.replace('npm run gatehouse -- ', '').split(' ');
    const { exitCode, output, errors } = await gatehouse(words, { state: stack().stateDir });
    expect({ command, exitCode, errors: exitCode === 0 ? '' : errors }).toEqual({ command, exitCode: 0, errors: '' });
    return output;
  };
  const runAll = async (commands: string[]): Promise<void> => {
    for (const command of commands) await run(command);
  };
  const decisionIn = async (command: string): Promise<string | undefined> => {
    const words = command.replace('http://127.0.0.1:8800', stack().edgeUrl).split(' ').slice(1);
    return /^x-protect-decision: (\w+)/im.exec((await promisify(execFile)('curl', words)).stdout)?.[1];
  };
  const [badbot, oddbot] = ask.trim().split('\n') as [string, string];
  await runAll(create.trim().split('\n'));
  await eventually(
    () => decisionIn(badbot),
    (decision) => decision === 'block',
  );
  expect(await decisionIn(oddbot)).toBe('challenge');
  type Logged = { verdicts: { decided_by: string }[] };
  const { verdicts } = await eventually(
    async () => JSON.parse(await run(read)) as Logged,
    (page) => page.verdicts.some(({ decided_by }) => decided_by === 'userAgent:oddbot'),
  );
  expect(verdicts.map(({ decided_by }) => decided_by)).toContain('userAgent:badbot');
  await run(addMozilla.trim());
  const named = async (): Promise<string[]> =>
    (await manage<{ rules: { value: string }[] }>(stack(), '/protect/access-rules')).rules
      .map(({ value }) => value)
      .filter((value) => /badbot|oddbot|mozilla/i.test(value));
  expect(await named()).toHaveLength(3);
  await runAll(remove);
  expect(await named()).toEqual([]);
});

test('Verifying in a backend: the example of the README accepts a token once, and refuses another one', async () => {
  const [example = ''] = examplesOf('Verifying in a backend', 'js');
  // What the example's backend has around it: the submitted form, its secret, and a network in which the host exists.
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
    ...source: string[]
  ) => (
    form: FormData,
    process: object,
    fetch: (url: string, init: RequestInit) => Promise<Response>,
  ) => Promise<boolean>;
  const backend = new AsyncFunction('form', 'process', 'fetch', `${example}; return verified;`);
  const accepts = (token: string): Promise<boolean> => {
    const form = new FormData();
    form.set('captcha-response', JSON.stringify({ token }));
    const process = { env: { CAPTCHA_SECRET: stack().secretKey } };
    return backend(form, process, (url, init) =>
      fetch(url.replace('https://gatehouse.example.com', stack().serviceUrl), init),
    );
  };
  const token = await solvedToken(stack(), {}, { siteKey: stack().siteKey, action: 'contact' });
  expect([await accepts(token), await accepts(token), await accepts('nonsense')]).toEqual([true, false, false]);
});
