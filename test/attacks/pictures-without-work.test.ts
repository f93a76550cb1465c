/**
 * A program wants pictures, recordings and tokens of level 2 without the time-lock, or more than one picture for it. It
 * talks to the local stack over HTTP, as anybody can.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { expectRows } from '../support/rows.ts';
import { solveWork } from '../support/session.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack();
let siteKey = '';

beforeAll(async () => {
  const made = await manage(stack(), '/sites/create', {
    name: 'pictures',
    settings: { domains: ['localhost'], captchaType: 'image', imageMinRounds: 1, powDifficulty: 1 },
  });
  siteKey = (made as { siteKey: string }).siteKey;
});

interface Answer {
  status: number;
  body: unknown;
}

async function post(path: string, body: unknown): Promise<Answer> {
  const response = await fetch(`${stack().serviceUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'http://localhost' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function ask(capabilities: object = {}): Promise<ChallengeResponse> {
  const asked = (): Promise<Answer> => post('/captcha/v1/challenge', { siteKey, capabilities });
  const { body } = await eventually(asked, ({ status }) => status === 200);
  return body as ChallengeResponse;
}

async function send(challenge: string, solution: object): Promise<{ status: number; body: SolutionResponse }> {
  const { status, body } = await post('/captcha/v1/solution', { challenge, solution });
  return { status, body: body as SolutionResponse };
}

const solve = ({ pow }: ChallengeResponse): Promise<object> => solveWork(pow!);

/** Neither a token nor anything drawn. */
function expectNothing({ status, body }: { status: number; body: SolutionResponse }): void {
  expect(status).toBeLessThan(500);
  expect(body.token).toBeUndefined();
  expect(body.next).toBeUndefined();
  expect(body.verified ?? false).toBe(false);
}

describe('no picture is drawn before its proof of work', () => {
  test('whatever a client asks for', () =>
    expectRows(
      [
        ['pictures', {}],
        ['sound', { audio: true }],
        ['pictures, without BigInt', { bigint: false }],
        ['sound, without BigInt or workers', { audio: true, bigint: false, worker: false }],
      ],
      async ([, capabilities]) => {
        const challenge = await ask(capabilities);
        expect(challenge.kind).toBe('image');
        expect(challenge.pow).toBeDefined();
        expect([challenge.image, challenge.puzzle, challenge.audio]).toEqual([undefined, undefined, undefined]);
      },
    ));

  test('whatever a client sends instead of the work', () =>
    expectRows(
      [
        ['nothing', {}],
        ['the answer to a picture', { selected: [0, 1] }],
        ['the counts of a recording', { digits: '111' }],
        ['a wish for sound', { audio: true }],
        ['a wish for pictures', { audio: false }],
        ['a wrong number', { y: 'A'.repeat(342) }],
        ['an empty number', { y: '' }],
        ['counters of the other lane', { counters: 'AAAA' }],
      ],
      async ([, solution]) => {
        expectNothing(await send((await ask()).challenge, solution));
      },
    ));

  test('when a client sends the work of another challenge', async () => {
    const [one, other] = [await ask(), await ask()];
    const solution = await solve(one);
    expectNothing(await send(other.challenge, solution));
    expect((await send(one.challenge, solution)).body.next?.image).toBeDefined();
  });

  test('when a client has no script', async () => {
    const refused = await post('/captcha/v1/challenge', { siteKey, capabilities: { script: false } });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.status).toBeLessThan(500);
  });
});

test('a hundred copies of one solved work bring one picture', async () => {
  const challenge = await ask();
  const solution = await solve(challenge);
  const answers = await Promise.all(Array.from({ length: 100 }, () => send(challenge.challenge, solution)));
  for (const { status } of answers) expect([200, 429]).toContain(status);
  const pictures = answers.flatMap(({ body }) => body.next?.image?.picture.light ?? []);
  // The first, and two repetitions of a lost response.
  expect(pictures).toHaveLength(3);
  expect(new Set(pictures).size).toBe(1);
});

test('a solved work in a hundred forms brings one picture', async () => {
  const challenge = await ask({ bigint: false });
  const solution = await solve(challenge);
  const forms = Array.from({ length: 100 }, (_, index) => ({ ...solution, index }));
  const answers = await Promise.all(forms.map((form) => send(challenge.challenge, form)));
  expect(answers.filter(({ body }) => body.next !== undefined)).toHaveLength(1);
});

describe('an answer in 15 ms', () => {
  test('is no answer, whatever it says', async () => {
    for (const capabilities of [{}, { audio: true }]) {
      const challenge = await ask(capabilities);
      const { next } = (await send(challenge.challenge, await solve(challenge))).body;
      // Some of these are right. None of them counts.
      const guess = { selected: [0, 1, 2], digits: '222' };
      const { body } = await send(next!.challenge, guess);
      expect(body).toMatchObject({ verified: false, reason: 'CAPTCHA.INVALID_SOLUTION' });
    }
  });

  test('ends the challenge after three attempts', async () => {
    let challenge: ChallengeResponse | undefined = await ask({ audio: true });
    let body = (await send(challenge.challenge, await solve(challenge))).body;
    let attempts = 0;
    for (challenge = body.next; challenge !== undefined; challenge = body.next) {
      attempts++;
      body = (await send(challenge.challenge, { digits: '222' })).body;
    }
    expect(attempts).toBe(3);
    expect(body.token).toBeUndefined();
  });
});

test('changing between pictures and sound brings one more task, not as many as asked for', async () => {
  const challenge = await ask();
  let { next } = (await send(challenge.challenge, await solve(challenge))).body;
  const shown: string[] = [];
  for (let change = 0; next !== undefined && change < 10; change++) {
    shown.push(next.audio === undefined ? 'picture' : 'sound');
    next = (await send(next.challenge, { audio: next.audio === undefined })).body.next;
  }
  expect(shown).toEqual(['picture', 'sound']);
});
