/**
 * A backend asks `/siteverify` whether a visitor was verified, often with nothing but secret and token, and clients of
 * other products cannot ask for a level at all. These clients bring tokens of an easier challenge than the site wants.
 */
import { describe, expect, test } from 'vitest';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { type Answer, call, personsToken } from '../support/gate.ts';
import { expectRows } from '../support/rows.ts';
import { solveWork } from '../support/session.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack();
const ORIGIN = { origin: 'http://localhost' };
const WITHOUT_SCRIPT = { capabilities: { script: false } };
const aliases = ['/turnstile/v0/siteverify', '/hcaptcha/siteverify', '/recaptcha/api/siteverify'];
let sites = 0;

interface Site {
  siteKey: string;
  secretKey: string;
}
type Verdict = Answer<{
  verified?: boolean;
  reason?: string;
  level?: number;
  success?: boolean;
  'error-codes'?: string[];
}>;

const service = <Body>(path: string, body: object): Promise<Answer<Body>> =>
  call<Body>(`${stack().serviceUrl}${path}`, ORIGIN, body);
const newSite = (settings: object = {}) =>
  manage<Site>(stack(), '/sites/create', {
    name: `site-${++sites}`,
    settings: { domains: ['localhost'], captchaType: 'pow', powDifficulty: 1, ...settings },
  });
const ask = ({ siteKey }: Site, asked: object = {}): Promise<Answer<ChallengeResponse>> =>
  service('/captcha/v1/challenge', { siteKey, ...asked });

/** Changes a site, and waits until the service's isolates have the change. */
async function raise(site: Site, minimumLevel: number): Promise<void> {
  await manage(stack(), '/sites/update', { siteKey: site.siteKey, settings: { minimumLevel } });
  // Nonsense is refused before the level, so the challenge shows the change.
  await eventually(
    async () => [(await ask(site, WITHOUT_SCRIPT)).status, (await ask(site)).body.kind],
    ([status, kind]) => status === (minimumLevel === 0 ? 200 : 400) && kind === (minimumLevel === 2 ? 'puzzle' : 'pow'),
  );
}

async function workedToken(site: Site): Promise<string> {
  const { body } = await ask(site);
  const solution = await solveWork(body.pow!);
  const solved = await service<SolutionResponse>('/captcha/v1/solution', { challenge: body.challenge, solution });
  return solved.body.token ?? '';
}
/** The token of someone who waited, without the eight seconds. */
async function waitedToken(site: Site): Promise<string> {
  const { body } = await ask(site, WITHOUT_SCRIPT);
  return personsToken(stack(), body.challenge);
}

const verify = ({ secretKey: secret }: Site, token: string, demands: object = {}): Promise<Verdict> =>
  service('/siteverify', { secret, token, ...demands });
const alias = (path: string, { secretKey: secret }: Site, response: string): Promise<Verdict> =>
  service(path, { secret, response });

/** Refused everywhere, whatever the request says, and not spent: it verifies once the site accepts it again. */
async function expectTooLow(site: Site, token: string): Promise<void> {
  for (const demands of [{}, { level: 0 }, { level: 1 }, { audience: 'edge' }, { audience: 'edge', level: 0 }]) {
    const { status, body } = await verify(site, token, demands);
    expect([status, body]).toEqual([200, { verified: false, reason: 'API.LEVEL_TOO_LOW' }]);
  }
  for (const path of aliases) {
    const { status, body } = await alias(path, site, token);
    expect([status, body]).toMatchObject([200, { success: false, 'error-codes': ['invalid-input-response'] }]);
  }
}

describe('a site that does not say which level it wants', () => {
  test('issues no wait, to a browser or to a form’s frame', async () => {
    const site = await newSite();
    expect(await ask(site, WITHOUT_SCRIPT)).toMatchObject({
      status: 400,
      body: { error: { key: 'API.INCORRECT_CAPTCHA_TYPE' } },
    });
    const frame = await fetch(`${stack().serviceUrl}/captcha/v1/wait?sitekey=${site.siteKey}`, {
      headers: { referer: 'http://localhost/contact' },
    });
    expect([frame.status, (await frame.text()).includes('Turn on JavaScript')]).toEqual([400, true]);
  });

  test('does not accept a token of level 0, through no address and with no demand', async () => {
    const site = await newSite({ minimumLevel: 0 });
    const token = await waitedToken(site);
    await raise(site, 1);
    await expectTooLow(site, token);
    await raise(site, 0);
    const accepted = await eventually(
      () => verify(site, token),
      ({ body }) => body.verified === true,
    );
    expect(accepted.body).toMatchObject({ level: 0 });
  });

  test('accepts a proof of work, once', async () => {
    const site = await newSite();
    const token = await workedToken(site);
    expect((await verify(site, token, { level: 2 })).body.reason).toBe('API.LEVEL_TOO_LOW');
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        index % 2 === 0 ? verify(site, token) : alias(aliases[index % 3]!, site, token),
      ),
    );
    expect(answers.filter(({ body }) => body.verified === true || body.success === true)).toHaveLength(1);
  });
});

describe('a site that wants a task', () => {
  test('asks every visitor for one, and accepts no proof of work', async () => {
    const site = await newSite();
    const token = await workedToken(site);
    await raise(site, 2);
    await expectTooLow(site, token);
    const { body } = await ask(site);
    expect(body.kind).toBe('puzzle');
    const persons = await personsToken(stack(), body.challenge, { lane: 'visual', level: 2 });
    expect((await verify(site, persons)).body).toMatchObject({ verified: true, level: 2 });
  });

  test('asks for one where an access rule would ease it, so that nobody solves in vain', async () => {
    const site = await newSite({ minimumLevel: 2 });
    await manage(stack(), '/access-control/create', {
      rule: {
        type: 'restrict',
        captchaType: 'pow',
        conditions: [{ field: 'userAgent', operator: 'equals', value: 'Eased/1.0' }],
      },
    });
    // The same rule eases this site, which shows when it is in force.
    const lenient = await newSite({ captchaType: 'puzzle' });
    const kindFor = async ({ siteKey }: Site): Promise<unknown> => {
      const headers = { ...ORIGIN, 'user-agent': 'Eased/1.0' };
      return (await call<ChallengeResponse>(`${stack().serviceUrl}/captcha/v1/challenge`, headers, { siteKey })).body
        .kind;
    };
    await eventually(
      () => kindFor(lenient),
      (kind) => kind === 'pow',
    );
    for (let time = 0; time < 5; time++) {
      expect([await kindFor(lenient), await kindFor(site)]).toEqual(['pow', 'puzzle']);
    }
  });
});

test('a minimumLevel that is no level is refused by name', () =>
  expectRows<[string, unknown]>(
    [
      ['a negative number', -1],
      ['a fraction', 0.5],
      ['too high', 3],
      ['a text', '1'],
      ['nothing', null],
    ],
    async ([, minimumLevel]) => {
      const site = await newSite();
      const response = await fetch(`${stack().serviceUrl}/sites/update`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack().apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ siteKey: site.siteKey, settings: { minimumLevel } }),
      });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('minimumLevel');
    },
  ));
