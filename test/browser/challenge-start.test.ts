// A stack of its own: it is started by the command under test.
/** A newcomer's first minute: from `npm start` to the first solved challenge. `npm run bench -- start` measures it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FIRST_VISITOR, firstChallenge, type NpmStart, npmStart } from '../support/npm-start.ts';
import { useVisitor } from '../support/visitor.ts';

const visitor = useVisitor({ context: { userAgent: `Mozilla/5.0 ${FIRST_VISITOR}` } });
let started: NpmStart;

beforeAll(async () => {
  started = await npmStart();
});
afterAll(() => started.stop());

test('npm start, a rule, a visit: the visitor solves the challenge and reaches the origin', async () => {
  await firstChallenge(await started.ready, visitor.page);
  expect(await visitor.page.textContent('body')).toContain('bodySha256');
});
