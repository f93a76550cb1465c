/** Cookies in the raw header: found only where they begin, and removed without a change to the rest. */
import { describe, expect, test } from 'vitest';
import { readCookie, readCookies, withoutOwnCookies } from '../../../src/edge/request/cookies.ts';

describe('reading a cookie', () => {
  test.each([
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
  ])('%s: %s', (header, value) => {
    expect(readCookie(header, 'protect_session')).toBe(value);
  });
});

describe('reading all cookies of one name', () => {
  test.each([
    ['protect_session=a; x=1; protect_session=b', ['a', 'b']],
    ['protect_session=a; protect_session=b; protect_session=c; protect_session=d', ['a', 'b', 'c']],
    ['my_protect_session=a; protect_session=b', ['b']],
    ['x=1', []],
  ])('%s', (header, values) => {
    expect(readCookies(header, 'protect_session', 3)).toEqual(values);
  });
});

describe('removing a cookie', () => {
  test.each([
    ['a=1; b="x; y"; c', 'a=1; b="x; y"; c'],
    ['a=1; protect_session=x; b=2', 'a=1; b=2'],
    ['protect_session=x', null],
    ['__Host-protect-clearance=x;a=1', 'a=1'],
    ['a=1; __Host-protect-clearance=x; protect_session=y', 'a=1'],
    ['protect_session_mine=1; x_protect_session=2', 'protect_session_mine=1; x_protect_session=2'],
    ['=;;a; protect_session', '=;;a'],
    ['a=1, __Host-protect-clearance=x; protect_session=y, c=3', 'a=1, c=3'],
    ['a=1,2; protect_session=x; b=3,4', 'a=1,2; b=3,4'],
  ])('%s becomes %s', (header, rest) => {
    expect(withoutOwnCookies(header)).toBe(rest);
  });
});
