/** What is asked before what: nothing is read or added for a request that is stopped, and nothing passes uncounted. */
import { describe, expect, test } from 'vitest';
import { SUBMISSION_MAX_BYTES } from '../../../src/edge/submission/read-submission.ts';
import { solvedClearance } from './edge-fixture.ts';
import { endOf, gateWith, limitOf, TOKEN_IN_FORM, type Visit } from './limited-gate.ts';

const form = (body: string, of: Partial<Visit> = {}): Visit => ({
  init: { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  ...of,
});
const failed = { status: [401], usernameField: 'user' };
const solved = { challenge: 'solved in the form' } as const;

describe('a form that is solved above a limit', () => {
  test('counts for the next limit, which ends it', async () => {
    const ofLogins = { on: 'loginFailed', loginFailed: failed, windowSeconds: 900 } as const;
    const visit = gateWith([
      limitOf({ ...ofLogins, name: 'soft', count: 2, then: 'challenge' }),
      limitOf({ ...ofLogins, name: 'hard', count: 5, then: 'block' }),
    ]);
    const ends: string[] = [];
    for (let guess = 0; guess < 8; guess++) {
      const step = await visit(form('user=alice&password=wrong', solved));
      visit.respond(step, 401);
      ends.push(endOf(step));
    }
    expect(ends).toEqual([...Array.from({ length: 5 }, () => 'forward'), 'block', 'block', 'block']);
  });

  test('counts once, and one that is not solved adds nothing', async () => {
    const visit = gateWith([
      limitOf({ name: 'soft', then: 'challenge' }),
      limitOf({ name: 'hard', count: 3, key: ['prefix'] }),
    ]);
    expect(endOf(await visit())).toBe('forward');
    for (let shown = 0; shown < 5; shown++) expect(endOf(await visit())).toBe('challenge');
    for (let passing = 0; passing < 2; passing++) expect(endOf(await visit(form('a=1', solved)))).toBe('forward');
    expect(endOf(await visit(form('a=1', solved)))).toBe('limited');
  });

  test('takes from an exact limit once, and one that is not solved takes nothing', async () => {
    const visit = gateWith([limitOf({ then: 'challenge' }), limitOf({ name: 'exact', exact: true, count: 9 })], {});
    await visit();
    await visit();
    expect(visit.taken).toHaveLength(1);
    await visit(form('a=1', solved));
    expect(visit.taken).toHaveLength(2);
  });

  test('goes on where nobody could check its token', async () => {
    const visit = gateWith([limitOf({ then: 'challenge' }), limitOf({ name: 'hard', count: 3 })]);
    await visit();
    const step = await visit(form('a=1', { challenge: 'not checked' }));
    expect([endOf(step), step.context.verdict.source]).toEqual(['forward', 'error']);
  });

  test('is not challenged again where its token could not be checked before', async () => {
    const visit = gateWith([limitOf({ then: 'challenge' })]);
    await visit();
    const step = await visit(form('a=1', { read: 'a=1', unchecked: true }));
    expect([endOf(step), step.context.verdict.source]).toEqual(['forward', 'error']);
    expect(step.context.verdict.firedRules).toMatchObject([{ id: 'limit:login' }]);
  });
});

describe('the body of a form', () => {
  const byUser = limitOf({ name: 'user', key: ['user'], count: 100, loginFailed: failed });
  const uses = (visit: ReturnType<typeof gateWith>, of: Visit) =>
    visit(of).then((step) => [endOf(step), step.context.facts.request.bodyUsed]);

  test('is not read where a limit without its user refuses the request', async () => {
    const visit = gateWith([byUser, limitOf()]);
    await visit(form('user=alice'));
    expect(await uses(visit, form('user=alice'))).toEqual(['limited', false]);
  });

  test('is not read where an exact limit is known to refuse the request', async () => {
    const visit = gateWith([byUser, limitOf({ exact: true })], { 1: 1 });
    await visit(form('user=alice'));
    await visit(form('user=alice'));
    expect(await uses(visit, form('user=alice'))).toEqual(['limited', false]);
  });

  test('of the largest size is read once where a limit by its user challenges it', async () => {
    const visit = gateWith([{ ...byUser, count: 1, then: 'challenge' }]);
    await visit(form('user=alice'));
    const large = `user=alice&a=${'x'.repeat(SUBMISSION_MAX_BYTES - 13 - TOKEN_IN_FORM.length)}`;
    expect(endOf(await visit(form(large, solved)))).toBe('forward');
  });

  test('that cannot be read counts for all who send such a body', async () => {
    const visit = gateWith([{ ...byUser, count: 2 }]);
    const encoded = (index: number): Visit => {
      const sent = form(`user=alice${index}`);
      const headers = { ...(sent.init?.headers as Record<string, string>), 'content-encoding': 'gzip' };
      return { ...sent, init: { ...sent.init, headers }, ip: `192.0.${index}.1` };
    };
    const ends = [];
    for (const index of [1, 2, 3]) ends.push(endOf(await visit(encoded(index))));
    expect(ends).toEqual(['forward', 'forward', 'limited']);
    expect(endOf(await visit(form('user=alice')))).toBe('forward');
  });

  test('and the query name the user', async () => {
    const visit = gateWith([byUser].map((limit) => ({ ...limit, count: 2 })));
    const ends = [];
    for (const [index, path] of ['/a?user=alice', '/a?USER=Alice&b', '/a?user%5B%5D=alice'].entries())
      ends.push(endOf(await visit({ ...form('password=x'), path, ip: `192.0.${index}.1` })));
    expect(ends).toEqual(['forward', 'forward', 'limited']);
  });

  test('that is slow gets nobody past the other limits', async () => {
    const visit = gateWith([byUser, limitOf({ count: 2 })]);
    const steps = await Promise.all(Array.from({ length: 9 }, (_, index) => visit(form(`user=${index}`))));
    expect(steps.map(endOf).filter((end) => end === 'forward')).toHaveLength(2);
  });
});

describe('requests at once', () => {
  const logins = limitOf({ key: ['user'], on: 'loginFailed', loginFailed: failed, count: 5, algorithm: 'sliding' });
  const guesses = (visit: ReturnType<typeof gateWith>, many: number) =>
    Promise.all(Array.from({ length: many }, () => visit(form('user=alice&password=x'))));

  test('try no more passwords of one user than one after the other', async () => {
    const visit = gateWith([logins]);
    const steps = await guesses(visit, 50);
    expect(steps.map(endOf).filter((end) => end === 'forward')).toHaveLength(5);
    steps.forEach((step) => visit.respond(step, 401));
    expect((await guesses(visit, 5)).map(endOf)).not.toContain('forward');
  });

  test.each([200, null])('leave nothing behind when the origin responds %s', async (status) => {
    const visit = gateWith([logins]);
    for (const step of await guesses(visit, 5)) visit.respond(step, status);
    expect((await guesses(visit, 5)).map(endOf)).toEqual(Array.from({ length: 5 }, () => 'forward'));
  });

  test('that never end hold their places for two minutes', async () => {
    const visit = gateWith([logins]);
    await guesses(visit, 5);
    visit.clock.nowMs += 119_000;
    expect((await guesses(visit, 1)).map(endOf)).toEqual(['limited']);
    visit.clock.nowMs += 2000;
    expect((await guesses(visit, 1)).map(endOf)).toEqual(['forward']);
  });

  test('that only read a page hold no place in a limit on log-ins', async () => {
    const visit = gateWith([{ ...logins, key: ['ip'], count: 2 }]);
    const pages = await Promise.all(Array.from({ length: 20 }, () => visit()));
    expect(pages.map(endOf)).not.toContain('limited');
    for (const step of pages.slice(0, 2)) visit.respond(step, 401);
    expect(endOf(await visit())).toBe('limited');
  });

  test('hold no place in a limit on a status: a page asks for its files at once', async () => {
    const visit = gateWith([limitOf({ on: 'status:404', count: 3 })]);
    expect((await guesses(visit, 30)).map(endOf)).not.toContain('limited');
  });

  test('do not pass a fast limit while they wait for an exact one', async () => {
    const visit = gateWith([limitOf({ count: 3 }), limitOf({ name: 'exact', exact: true, count: 100 })], {});
    expect((await guesses(visit, 20)).map(endOf).filter((end) => end === 'forward')).toHaveLength(3);
    expect(visit.taken.reduce((sum, { asked }) => sum + asked, 0)).toBe(3);
  });
});

describe('of several exact limits', () => {
  const everybody = limitOf({ name: 'everybody', key: ['host'], exact: true, count: 100 });
  const own = limitOf({ name: 'own', exact: true, count: 3 });

  test('the smallest is asked first, so that a visitor above it takes nothing from the others', async () => {
    const visit = gateWith([everybody, own], { 3: 0 });
    for (let attempt = 0; attempt < 5; attempt++) expect(endOf(await visit())).toBe('limited');
    expect(visit.taken.map(({ count }) => count)).toEqual([3]);
  });

  test('one that is known to refuse stops the request before the others are asked', async () => {
    const visit = gateWith([everybody, own], { 100: 0 });
    for (let attempt = 0; attempt < 5; attempt++) expect(endOf(await visit())).toBe('limited');
    expect(visit.taken.map(({ count }) => count)).toEqual([3, 100]);
  });
});

test('an exact limit that challenges and is to be closed answers 503 without its object, also to a clearance', async () => {
  const visit = gateWith([limitOf({ exact: true, then: 'challenge', ifUnreachable: 'closed' })]);
  const step = await visit({ inputs: { clearance: solvedClearance } });
  expect(step).toMatchObject({ kind: 'answer', answer: { key: 'API.UNAVAILABLE' } });
  expect(step.context.verdict).toMatchObject({ decision: 'block', source: 'limit' });
});

test('a response counts when it comes, whatever became of the window of its request', async () => {
  const visit = gateWith([limitOf({ on: 'status:401', count: 2, windowSeconds: 10, algorithm: 'sliding' })]);
  const slow = await visit();
  visit.clock.nowMs += 21_000;
  visit.respond(await visit(), 401);
  visit.respond(slow, 401);
  expect(endOf(await visit())).toBe('limited');
});
