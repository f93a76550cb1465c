/** A draft of policies: its changes, its order, and how it comes on top of what somebody else has saved. */
import { describe, expect, test } from 'vitest';
import {
  caughtUp,
  draftChanges,
  moved,
  onVersion,
  policiesOf,
  type PolicyDraft,
  unchangedDraft,
  withAdded,
  withImported,
  withPolicy,
  without,
} from '../../../src/console/views/policies/draft.ts';
import { changedLines, headOf, type ShownDifference } from '../../../src/console/views/policies/difference-lines.ts';
import type { TextPolicy } from '../../../src/console/views/policies/policy.ts';
import { expectRows } from '../../support/rows.ts';

/** `a=x` is the policy `a` with a condition on the path `/x`. */
function policy(text: string): TextPolicy {
  const [name = '', path = name] = text.split('=');
  return { name, when: `path equals "/${path}"`, then: { action: 'block' }, mode: 'enforce' };
}
const policies = (text: string): TextPolicy[] => (text === '' ? [] : text.split(' ').map(policy));
const draft = (text: string): PolicyDraft => unchangedDraft(4, policies(text));
const textOf = (list: readonly TextPolicy[]): string =>
  list
    .map(({ name, when }) => {
      const path = /"\/(.*)"/.exec(when)?.[1] ?? '';
      return path === name ? name : `${name}=${path}`;
    })
    .join(' ');
const shown = ({ entries }: PolicyDraft): string => textOf(policiesOf(entries));
const edited = (from: PolicyDraft, name: string, to: string): PolicyDraft => withPolicy(from, name, policy(to));

describe('a draft', () => {
  test('has no changes until something is changed', () => {
    expect(draftChanges(draft('a b'))).toEqual([]);
    expect(draftChanges(moved(moved(draft('a b'), 'a', 1), 'a', 0))).toEqual([]);
  });

  test('has its policies in the order of its changes', () =>
    expectRows(
      [
        ['moved down', (from: PolicyDraft) => moved(from, 'a', 1), 'b a c'],
        ['moved beyond the end', (from: PolicyDraft) => moved(from, 'a', 9), 'b c a'],
        ['moved before the start', (from: PolicyDraft) => moved(from, 'c', -1), 'c a b'],
        ['an unknown one moved', (from: PolicyDraft) => moved(from, 'x', 0), 'a b c'],
        ['deleted', (from: PolicyDraft) => without(from, 'b'), 'a c'],
        ['renamed in its place', (from: PolicyDraft) => edited(from, 'b', 'd'), 'a d c'],
        ['added at the end', (from: PolicyDraft) => withAdded(from, policies('d e')), 'a b c d e'],
        ['added at the start', (from: PolicyDraft) => withAdded(from, policies('d e'), 'start'), 'd e a b c'],
      ],
      ([, change, expected]) => {
        expect(shown(change(draft('a b c')))).toBe(expected);
      },
    ));

  test.each([
    ['end', 'a b=1 b-2=2 hosts-2'],
    ['start', 'b-2=2 hosts-2 a b=1'],
    ['replace', 'b=2 hosts-2'],
  ] as const)('takes imported policies under free names: %s', (place, expected) => {
    const hosts = { ...policy('hosts'), when: 'path equals "/hosts-2"' };
    expect(shown(withImported(draft('a b=1'), [policy('b=2'), hosts], place))).toBe(expected);
  });

  test('gives each new policy a key of its own', () => {
    const twice = withAdded(withAdded(draft('a'), policies('b c')), policies('d'));
    expect(new Set(twice.entries.map(({ key }) => key)).size).toBe(4);
    expect(shown(edited(twice, 'new 2', 'x'))).toBe('a b x d');
  });

  test('says what became of a limit in the words of its form', () => {
    const before = {
      name: 'logins',
      on: 'loginFailed',
      key: ['ip', 'header:x-api-key'],
      count: 10,
      windowSeconds: 3600,
      then: '429',
      algorithm: 'sliding',
      exact: false,
    };
    const after = { ...before, on: 'status:401', count: 5, windowSeconds: 60, then: 'block', ifUnreachable: 'closed' };
    const texts = (change: Partial<ShownDifference>) =>
      changedLines('limit', {
        change: 'changed',
        name: 'logins',
        placeBefore: 1,
        placeAfter: 1,
        before,
        after,
        ...change,
      }).map(({ mark, text }) => `${mark} ${text}`);
    expect(texts({})).toEqual([
      '- Counts: failed logins',
      '+ Counts: responses of the origin with a status, 401',
      '- At most: 10',
      '+ At most: 5',
      '- Within: 1 hour',
      '+ Within: 1 minute',
      '- Above it a request gets: 429 Too Many Requests',
      '+ Above it a request gets: the block page',
      '+ While the counter does not answer, requests: are refused with 503',
    ]);
    expect(texts({ change: 'removed', after: null }).slice(1, 3)).toEqual([
      '- Counted for each: address, header x-api-key',
      '- At most: 10',
    ]);
  });

  test('says what it changes, field by field', () => {
    const [change] = draftChanges(
      withPolicy(draft('a'), 'a', { ...policy('a=b'), then: { action: 'challenge', level: 1 } }),
    );
    expect(headOf('policy', change!)).toBe('policy a changed');
    expect(changedLines('policy', change!)).toEqual([
      { mark: '-', text: 'Condition: path equals "/a"' },
      { mark: '+', text: 'Condition: path equals "/b"' },
      { mark: '-', text: 'Action: block' },
      { mark: '+', text: 'Action: challenge 1' },
    ]);
    const [move] = draftChanges(moved(draft('a b c'), 'a', 2));
    expect(headOf('policy', move!)).toBe('policy a moved from place 1 to 3');
    expect(changedLines('policy', move!)).toEqual([]);
  });
});

describe('a draft of "a b c" on top of what somebody else has saved', () => {
  const start = draft('a b c');
  test('has the changes of both, and names what both changed differently', () =>
    expectRows(
      [
        ['different ones changed', edited(start, 'a', 'a=1'), 'a b=2 c', 'a=1 b=2 c', []],
        ['the same one changed', edited(start, 'a', 'a=1'), 'a=2 b c', 'a=1 b c', ['a']],
        ['the same one changed alike', edited(start, 'a', 'a=1'), 'a=1 b c', 'a=1 b c', []],
        ['they delete what the draft keeps', edited(start, 'a', 'a=1'), 'a c', 'a=1 c', []],
        ['they delete what the draft changes', edited(start, 'a', 'a=1'), 'b c', 'a=1 b c', ['a']],
        ['they change what the draft deletes', without(start, 'a'), 'a=2 b c', 'a=2 b c', ['a']],
        ['both delete one', without(start, 'a'), 'b c', 'b c', []],
        ['both add', withAdded(start, policies('d')), 'a x b c', 'a x b c d', []],
        ['both add the same name', withAdded(start, policies('d=1')), 'a b c d=2', 'a b c d=1', ['d']],
        ['they move', edited(start, 'a', 'a=1'), 'c a b', 'c a=1 b', []],
        ['the draft moves, they add', moved(start, 'c', 0), 'a x b c', 'c a x b', []],
        ['both move', moved(start, 'c', 0), 'b a c', 'c a b', []],
      ],
      ([, mine, theirs, expected, both]) => {
        const result = caughtUp(mine, 7, policies(theirs));
        expect(shown(result.draft)).toBe(expected);
        expect(result.both).toEqual(both);
        expect(result.draft.base.version).toBe(7);
        expect(textOf(policiesOf(result.draft.base.entries))).toBe(theirs);
      },
    ));

  test('needs nothing when they have changed no policy', () => {
    const mine = edited(start, 'a', 'a=1');
    expect(onVersion(mine, 7, policies('a b c'))).toEqual({ ...mine, base: { ...mine.base, version: 7 } });
    expect(onVersion(mine, 7, policies('a b'))).toBe(mine);
  });

  test('is what they have saved when the draft changes nothing', () => {
    expect(shown(caughtUp(start, 7, policies('x c a=1')).draft)).toBe('x c a=1');
  });
});
