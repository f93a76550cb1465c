/** What a policy's condition may be, and where an error points. Nothing a caller sends overflows a stack. */
import { describe, expect, test } from 'vitest';
import { expression, expressionProblem } from '../../../../src/contract/management/policy-set/expression.ts';
import { expectRows } from '../../../support/rows.ts';

const exists = { field: 'ip', operator: 'exists' };

function nested(depth: number): unknown {
  let value: unknown = exists;
  for (let level = 1; level < depth; level++) value = { not: value };
  return value;
}

describe('an expression', () => {
  test('may compare every field and nest', () =>
    expectRows(
      [
        [exists],
        [{ field: 'path', operator: 'startsWith', value: '/api' }],
        [{ field: 'header', name: 'Accept-Language', operator: 'equals', value: '' }],
        [{ field: 'query', name: 'söme name', operator: 'matches', value: 'a*b' }],
        [{ field: 'bot', name: 'behaviour', operator: 'in', value: ['training', 'search'] }],
        [{ field: 'asn', operator: 'in', value: [0, 4_294_967_295] }],
        [{ field: 'riskScore', operator: 'greaterThan', value: 0.5 }],
        [{ and: [exists, { or: [exists, { not: exists }] }] }],
        [nested(32)],
        [{ and: Array.from({ length: 255 }, () => exists) }],
      ],
      ([value]) => {
        expect(expression.parse(value)).toEqual(value);
      },
    ));

  test('must not have another form, and the error names the place', () =>
    expectRows(
      [
        [null, '', 'must be an object'],
        [[], '', 'must be an object'],
        [{}, 'field', 'must be one of host'],
        [{ and: [] }, 'and', 'must not be empty'],
        [{ or: exists }, 'or', 'must be a list'],
        [{ and: [exists], or: [exists] }, '', 'must have no field beside "and"'],
        [{ not: { and: [exists, { not: 'x' }] } }, 'not.and.1.not', 'must be an object'],
        [{ ...exists, extra: 1 }, 'extra', 'is not a known field'],
        [{ field: 'body', operator: 'exists' }, 'field', 'must be one of host'],
        [{ field: 'ip', name: 'x', operator: 'exists' }, 'name', 'must be absent'],
        [{ field: 'cookie', operator: 'exists' }, 'name', 'must name the cookie'],
        [{ field: 'cookie', name: 'a;b', operator: 'exists' }, 'name', 'must be the name of a cookie'],
        [{ field: 'header', name: 'a b', operator: 'exists' }, 'name', 'must be the name of a header'],
        [{ field: 'query', name: 'x'.repeat(129), operator: 'exists' }, 'name', 'at most 128'],
        [{ field: 'bot', name: 'owner', operator: 'exists' }, 'name', 'must be one of behaviour, proof'],
        [{ field: 'path', operator: 'greaterThan', value: 1 }, 'operator', 'must be one of equals'],
        [{ ...exists, value: 'x' }, 'value', 'must be absent'],
        [{ field: 'path', operator: 'equals' }, 'value', 'must be a text'],
        [{ field: 'path', operator: 'contains', value: '' }, 'value', 'must not be empty'],
        [{ field: 'path', operator: 'equals', value: 'x'.repeat(513) }, 'value', 'at most 512'],
        [{ field: 'path', operator: 'equals', value: '\ud800' }, 'value', 'well-formed'],
        [{ field: 'path', operator: 'in', value: '/a' }, 'value', 'must be a list'],
        [{ field: 'path', operator: 'in', value: [] }, 'value', 'at least one'],
        [{ field: 'path', operator: 'in', value: ['/a', 7] }, 'value.1', 'must be a text'],
        [{ field: 'path', operator: 'in', value: Array(501).fill('/a') }, 'value', 'at most 500'],
        [{ field: 'path', operator: 'startsWith', value: 'api' }, 'value', 'must begin with "/"'],
        [{ field: 'path', operator: 'contains', value: 'a?b' }, 'value', 'must have no "?"'],
        [{ field: 'asn', operator: 'equals', value: 1.5 }, 'value', 'whole number'],
        [{ field: 'riskScore', operator: 'greaterThan', value: 2 }, 'value', 'from 0 to 1'],
        [{ field: 'country', operator: 'equals', value: 'de' }, 'value', 'capital letters'],
        [{ field: 'method', operator: 'in', value: ['GET', 'post'] }, 'value.1', 'capital letters'],
        [{ field: 'ipCategory', operator: 'equals', value: 'x' }, 'value', 'must be one of tor'],
        [nested(33), 'not.'.repeat(31) + 'not', 'deeper than 32'],
        [nested(100), 'not.'.repeat(31) + 'not', 'deeper than 32'],
        [{ and: Array.from({ length: 256 }, () => exists) }, 'and', 'more than 256 parts'],
        [
          { and: Array.from({ length: 20 }, () => ({ or: Array.from({ length: 20 }, () => exists) })) },
          'and.12.or',
          'more than 256 parts',
        ],
      ],
      ([value, path, message]) => {
        const [issue] = expression.safeParse(value).error?.issues ?? [];
        expect(issue?.path.join('.')).toBe(path);
        expect(issue?.message).toContain(message);
      },
    ));

  test('is refused at any depth and length without an overflow', () => {
    expect(expressionProblem(nested(1_000_000))?.message).toBe('is nested deeper than 32 levels');
    const wide = { or: Array.from({ length: 1_000_000 }, () => exists) };
    expect(expressionProblem(wide)?.message).toBe('has more than 256 parts');
  });
});
