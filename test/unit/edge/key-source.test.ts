/** The path that limits count by: one for every spelling that an origin may read as the same. */
import { expect, test } from 'vitest';
import { keySourceOf, type RequestFacts } from '../../../src/edge/request/facts.ts';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import { expectRows } from '../../support/rows.ts';

const pathOf = (path: string): string => {
  const target = canonicalTarget(`https://shop.example${path}`)!;
  return keySourceOf({ target, headers: {}, signals: {} } as RequestFacts, null, null).path;
};

test('parameters of a path do not count: each spelling is /login', () =>
  expectRows(['/login;1', '/login;2', '/login;a=b', '/login%3Bx'], (path) => {
    expect(pathOf(path)).toBe('/login');
  }));

test('another path counts as itself', () => {
  expect(pathOf('/login/2')).toBe('/login/2');
});
