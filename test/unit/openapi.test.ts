/** What the OpenAPI document promises to clients that are generated from it. */
import { readFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import type { OpenAPI3 } from 'openapi-typescript';
import { expect, test } from 'vitest';
import { errorStatus } from '../../src/contract/errors.ts';

type Json = Record<string, unknown>;
interface Operation {
  responses: Record<string, Json>;
}
const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties: Record<string, Json> }>; responses: Record<string, Json> };
};

test('the types of the client that the tests compile are those that openapi-typescript makes without options', async () => {
  const types = astToString(await openapiTS(document as unknown as OpenAPI3));
  const used = readFileSync('src/console/api/openapi-types.d.ts', 'utf8');
  expect(used.slice(used.indexOf('\n') + 1) === types).toBe(true);
});

test('no choice of schemas is empty or holds one that fits everything', () => {
  const found: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      const isEmpty = (option: unknown) => Object.keys(option as object).length === 0;
      if ((name === 'anyOf' || name === 'oneOf') && Array.isArray(inner)) {
        if (inner.length === 0 || inner.some(isEmpty)) found.push(path);
      }
      visit(inner, `${path}/${name}`);
    }
  };
  visit(document, '');
  expect(found).toEqual([]);
});

test.each([
  ['list-verdicts', 'limit', [1, 1000], 50],
  ['list-verdicts', 'offset', [0, 100_000], 0],
  ['list-verdicts', 'minRulesFired', [0, 64], undefined],
  ['search-verdicts', 'limit', [1, 1000], 50],
  ['get-traffic-by-dimension', 'topN', [1, 100], 10],
  ['get-traffic-by-dimension', 'bucket', [60, 2_678_400], 3600],
  ['get-traffic-summary', 'bucket', [60, 2_678_400], 3600],
  ['create-instance', 'rollout', [0, 100], 100],
  ['get-access-control-rules', 'limit', [1, 10_000], 100],
  ['get-live-sessions', 'windowMinutes', [5, 360], 60],
] as const)('%s declares range and default of %s', (operation, field, range, preset) => {
  const schema = document.components.schemas[`${operation}.requestBody`]?.properties[field] ?? {};
  const options = [schema, ...((schema['anyOf'] ?? []) as Json[])];
  const number = options.find(({ type }) => type === 'integer' || type === 'number');
  expect([number?.['minimum'], number?.['maximum'], schema['default']]).toEqual([...range, preset]);
});

/** Every field of this name in the responses, as `place: types`. */
function responseFields(name: RegExp): string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const properties = Object.entries(((value as Json)['properties'] ?? {}) as Record<string, Json>);
    for (const [field, schema] of properties) {
      if (!name.test(field)) continue;
      const options = (schema['anyOf'] as Json[] | undefined) ?? [schema];
      const types = options.map(({ type, format }) => String(format ?? type)).filter((type) => type !== 'null');
      found.add(`${field}: ${types.join()}`);
    }
    for (const inner of Object.values(value)) visit(inner);
  };
  for (const [schema, content] of Object.entries(document.components.schemas)) {
    if (schema.endsWith('.response')) visit(content);
  }
  return [...found].toSorted();
}

test('an AS number is a number in every response', () => {
  expect(responseFields(/^asns?$/)).toEqual(['asn: integer', 'asns: array']);
});

test('createdAt is epoch milliseconds, and of rules, whose expiry is a date, a date', () => {
  expect(responseFields(/^(created|updated)At$/)).toEqual([
    'createdAt: date-time',
    'createdAt: integer',
    'updatedAt: date-time',
    'updatedAt: integer',
  ]);
});

/** Turnstile and its like return 200 for every mistake. */
const isAlias = (path: string): boolean => path !== '/siteverify' && path.endsWith('/siteverify');

test('an operation declares every status that its kind of call can return', () => {
  // 502 and 508 are the edge's.
  const every = [...new Set(Object.values(errorStatus))].filter((status) => ![502, 508].includes(status)).map(String);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { responses } of Object.values(methods)) {
      const isPublic = path === '/siteverify' || path.startsWith('/captcha/');
      // The page for visitors without scripts has no credential.
      const never = ['404', '409', ...(path === '/captcha/v1/wait' ? ['401'] : [])];
      const expected = isAlias(path) ? ['405', '503'] : isPublic ? every.filter((one) => !never.includes(one)) : every;
      const declared = Object.keys(responses).filter((status) => status !== '200');
      if (path === '/siteverify') declared.push('429');
      expect([path, declared.toSorted()]).toEqual([path, expected.toSorted()]);
    }
  }
});
