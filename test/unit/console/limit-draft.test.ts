/** The fields of a limit in the console, and the limit that they mean. */
import { expect, test } from 'vitest';
import { limit as limitSchema } from '../../../src/contract/management/policy-set/limit.ts';
import {
  limitDraftOf,
  emptyDraft,
  type LimitDraft,
  limitOf,
  limitProblems,
  limitSchemas,
  withKeyPart,
} from '../../../src/console/views/limits/limit-draft.ts';
import type { ListedLimit } from '../../../src/console/views/limits/limit-set.ts';
import { allowanceText } from '../../../src/console/views/limits/limit-words.ts';
import { fieldProblems as found, type Problems } from '../../../src/console/settings/setting-schema.ts';
import { expectRows } from '../../support/rows.ts';

const problemsOf = (draft: LimitDraft, taken: readonly string[]): Problems<LimitDraft> =>
  found(draft, limitSchemas(draft), limitProblems(draft, taken));
const limit = (given: object): ListedLimit =>
  limitSchema.parse({ name: 'a', key: ['ip'], count: 10, windowSeconds: 60, ...given }) as ListedLimit;
const draft = (given: Partial<LimitDraft>): LimitDraft => ({ ...emptyDraft, name: 'a', ...given });

const login = { on: 'loginFailed', loginFailed: { status: [401, 403], usernameField: 'user.email' } };

test('the form of a stored limit means the same limit', () =>
  expectRows(
    [
      {},
      { windowSeconds: 90, algorithm: 'bucket', mode: 'monitor', then: 'challenge' },
      { windowSeconds: 86_400, on: 'status:4xx', then: 'block' },
      { exact: true, ifUnreachable: 'closed' },
      { exact: true, ifUnreachable: 'open' },
      { key: ['header:x-api-key', 'path', 'cookie:sid', 'ip'] },
      { key: ['prefix', 'country'], on: 'challengeFailed' },
      { key: ['user', 'prefix'], ...login },
      { on: 'loginFailed', loginFailed: { header: { name: 'x-failed' } } },
      { on: 'loginFailed', loginFailed: { header: { name: 'x-failed', value: '1' } } },
    ],
    (given) => {
      const stored = limit(given);
      expect(problemsOf(limitDraftOf(stored), [])).toEqual({});
      expect(limitOf(limitDraftOf(stored))).toEqual(stored);
    },
  ));

test('the service takes what the form begins with', () => {
  expect(limitSchema.safeParse(limitOf(draft({}))).success).toBe(true);
});

test('a limit that begins to count by user challenges, and keeps what is chosen then', () => {
  const byUser = { ...draft({}), ...withKeyPart(draft({}), 'user', true) };
  expect([byUser.key, byUser.then]).toEqual([['ip', 'user'], 'challenge']);
  const refusing: LimitDraft = { ...byUser, then: '429' };
  expect({ ...refusing, ...withKeyPart(refusing, 'ip', false) }).toMatchObject({ key: ['user'], then: '429' });
  expect({ ...draft({}), ...withKeyPart(draft({}), 'path', true) }).toMatchObject({ then: '429' });
});

test('a key that changes keeps the order of the parts that stay', () => {
  const former = limitDraftOf(limit({ key: ['path', 'cookie:sid', 'ip'] }));
  expect(limitOf({ ...former, cookies: 'cart', key: [...former.key, 'host'] }).key).toEqual([
    'path',
    'ip',
    'host',
    'cookie:cart',
  ]);
});

test('what counts no requests is not exact, and says nothing of log-ins', () => {
  const sent = limitOf(draft({ on: 'status', status: ' 401 ', exact: true, loginHeader: 'x-failed' }));
  expect(sent).toMatchObject({ on: 'status:401', exact: false });
  expect(Object.keys(sent)).not.toContain('ifUnreachable');
  expect(Object.keys(sent)).not.toContain('loginFailed');
});

test('a mistake is refused at its field', () =>
  expectRows<[Partial<LimitDraft>, keyof LimitDraft]>(
    [
      [{ name: 'Login' }, 'name'],
      [{ name: 'taken' }, 'name'],
      [{ count: '0' }, 'count'],
      [{ count: '1000001' }, 'count'],
      [{ count: '1e3' }, 'count'],
      [{ count: '2.5' }, 'count'],
      [{ window: '' }, 'window'],
      [{ window: '25', unit: 'hours' }, 'window'],
      [{ on: 'status', status: '6xx' }, 'status'],
      [{ key: [] }, 'key'],
      [{ key: ['ip', 'path', 'host'], headers: 'a, b' }, 'key'],
      [{ on: 'challengeFailed', key: ['ip', 'session'] }, 'key'],
      [{ on: 'challengeFailed', headers: 'x-api-key' }, 'key'],
      [{ on: 'loginFailed', loginStatuses: '' }, 'loginStatuses'],
      [{ on: 'loginFailed', loginStatuses: '401, none' }, 'loginStatuses'],
      [{ key: ['user'] }, 'usernameField'],
    ],
    ([given, field]) => {
      expect(Object.keys(problemsOf(draft(given), ['taken']))).toEqual([field]);
    },
  ));

test('a draft says in words what it lets through', () =>
  expectRows(
    [
      [{}, '10 requests in 1 minute'],
      [{ windowSeconds: 90 }, '10 requests in 90 seconds'],
      [{ count: 1, windowSeconds: 7200 }, '1 request in 2 hours'],
      [{ on: 'status:4xx', count: 1 }, '1 response with 4xx in 1 minute'],
      [login, '10 failed logins in 1 minute'],
      [{ algorithm: 'bucket' }, '10 requests at once, and as many spread over 1 minute'],
    ],
    ([given, text]) => {
      expect(allowanceText(limit(given))).toBe(text);
    },
  ));
