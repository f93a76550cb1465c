/** Cookies in the raw header: found only where they begin, and removed without a change to the rest. */
import { describe, expect, test } from 'vitest';
import { readCookie, readCookies, readOwnCookies, withoutOwnCookies } from '../../../src/edge/request/cookies.ts';
import { expectRows } from '../../support/rows.ts';

describe('reading a cookie', () => {
  test('finds the one value, and none that is ambiguous', () =>
    expectRows(
      [
        ['protect_session=a|b', 'a|b'],
        ['x=1; protect_session=a|b; y=2', 'a|b'],
        ['x=1;protect_session=a', 'a'],
        ['protect_session="quoted"', 'quoted'],
        ['my_protect_session=evil', null],
        ['x=protect_session=evil', null],
        ['protect_session_x=evil', null],
        ['protect_session', null],
        ['x=1; protect_session=first; protect_session=second', 'first'],
        ['a=protect_session; protect_session=real', 'real'],
        ['x=1, protect_session=a|b, y=2', 'a|b'],
        ['', null],
      ],
      ([header, value]) => {
        expect(readCookie(header, 'protect_session')).toBe(value);
      },
    ));
});

describe('reading all cookies of one name', () => {
  test('gives the first values, and none of other names', () =>
    expectRows(
      [
        ['protect_session=a; x=1; protect_session=b', ['a', 'b']],
        ['protect_session=a; protect_session=b; protect_session=c; protect_session=d', ['a', 'b', 'c']],
        ['my_protect_session=a; protect_session=b', ['b']],
        ['x=1', []],
      ],
      ([header, values]) => {
        expect(readCookies(header, 'protect_session', 3)).toEqual(values);
      },
    ));
});

describe('removing a cookie', () => {
  test('leaves the other cookies as they were', () =>
    expectRows(
      [
        ['a=1; b="x; y"; c', 'a=1; b="x; y"; c'],
        ['a=1; protect_session=x; b=2', 'a=1; b=2'],
        ['protect_session=x', null],
        ['__Host-protect-clearance=x;a=1', 'a=1'],
        ['a=1; __Host-protect-clearance=x; protect_session=y', 'a=1'],
        ['protect_session_mine=1; x_protect_session=2', 'protect_session_mine=1; x_protect_session=2'],
        ['=;;a; protect_session', '=;;a'],
        ['a=1, __Host-protect-clearance=x; protect_session=y, c=3', 'a=1, c=3'],
        ['a=1,2; protect_session=x; b=3,4', 'a=1,2; b=3,4'],
      ],
      ([header, rest]) => {
        expect(withoutOwnCookies(header)).toBe(rest);
      },
    ));
});

describe('what a header holds for the edge and for the origin', () => {
  const headers = [
    'a=1; protect_session=x|y; __Host-protect-clearance=z; b=2',
    'a=1; protect_session=x|y; __Host-protect-clearance=Z; b=2',
    'protect_session=x; protect_session=y',
    '__Host-protect-clearance=',
    'a=1',
    '',
  ];

  test('is the same whatever header was read before', () => {
    for (const header of headers) {
      for (const before of headers) {
        readOwnCookies(before);
        expect(readOwnCookies(header)).toEqual({
          sessions: readCookies(header, 'protect_session', 1000),
          clearance: readCookie(header, '__Host-protect-clearance'),
          others: withoutOwnCookies(header),
        });
      }
    }
  });

  test('is nothing where there is none', () => {
    readOwnCookies('protect_session=x');
    expect(readOwnCookies(null)).toEqual({ sessions: [], clearance: null, others: null });
  });
});
