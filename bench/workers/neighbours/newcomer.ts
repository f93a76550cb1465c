/**
 * A person who comes to the site for the first time: a page, the session that it opens, a second page, and a form with its
 * captcha. Work that has become dearer meanwhile is followed by the rest of it, which they do as well.
 */
import type { ChallengeResponse, SessionChallenge } from '../../../src/contract/captcha/challenge-api.ts';
import { loadNonceOf } from '../../../test/support/page-load.ts';
import { withAnswers } from '../../../test/support/probe-answers.ts';
import { PERSONS_BROWSER } from '../../../test/support/session.ts';
import type { Visit } from '../../neighbours/plan.ts';
import type { Answer, GateClient } from './gate-client.ts';

/** What stands for the solution of a proof of work: the clocked service mints tasks whose answer is their own `x`. */
export const solutionOf = ({ x = '' }: { x?: string | undefined }): { y: string } => ({ y: x });

/** What a page sends back for the challenge of a session. */
export function answerTo({ challenge, pow, probes }: SessionChallenge): object {
  return { challenge, solution: solutionOf(pow), environment: withAnswers(PERSONS_BROWSER, probes) };
}

/** Each step yields after how many milliseconds the next one follows. `planted`: cookies that somebody else has put there. */
export async function* newcomer(client: GateClient, visit: Visit, planted: () => string): AsyncGenerator<number> {
  client.cookies = planted();
  const page = await client.open('/');
  notice('first page', page);
  const load = loadNonceOf(page.text);
  yield 300;
  let session = await client.call('session', { load });
  notice('session', session);
  while (typeof session.body['challenge'] === 'string') {
    const asked = session.body as SessionChallenge;
    visit.sessionPrice += asked.pow.t ?? 0;
    yield 1000;
    session = await client.call('session', { load, ...answerTo(asked) });
    notice('session', session);
  }
  yield 10_000;
  notice('second page', await client.open('/contact'));
  const captcha = await client.call('challenge', { action: 'contact' });
  notice('captcha', captcha);
  let task = captcha.body as unknown as ChallengeResponse | undefined;
  let token = '';
  while (task?.pow !== undefined && token === '') {
    visit.formPrice += task.pow.t ?? 0;
    yield 1000;
    const solved = await client.call('solution', { challenge: task.challenge, solution: solutionOf(task.pow) });
    notice('captcha', solved);
    task = solved.body['next'] as ChallengeResponse | undefined;
    token = String(solved.body['token'] ?? '');
  }
  if (token === '') visit.refused ??= 'captcha: no token';
  yield 1000;
  notice('form', await client.submit('/contact', { text: 'Hello', 'captcha-response': token }));

  function notice(what: string, { status, decision }: Answer): void {
    if (status !== 200 || decision !== 'allow') visit.refused ??= `${what}: ${status} ${decision}`;
  }
}
