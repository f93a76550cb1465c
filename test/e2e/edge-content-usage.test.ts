/** The header with which a site says how its content may be used: nobody's pages say what nobody has decided. */
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { call, originAnswers, upstream, useEdgeBeforeOrigin } from './edge-before-origin.ts';

useEdgeBeforeOrigin({});

const usage = async () => (await call()).headers['content-usage'];

test('a response of the origin says nothing under the bot policy that nobody chose', async () => {
  originAnswers({});
  expect(await usage()).toBeUndefined();
});

test.each([
  [{ preset: 'closed' }, 'search=n, train-ai=n'],
  [{ behaviours: { training: 'allow' } }, 'search=y, train-ai=y'],
])('says what the operator chose, unless the origin says something itself: %j', async (botPolicy, said) => {
  originAnswers({});
  upstream.setPolicy({ botPolicy });
  await eventually(usage, (value) => value === said);
  originAnswers({ headers: { 'content-usage': 'train-ai=y' } });
  expect(await usage()).toBe('train-ai=y');
});
