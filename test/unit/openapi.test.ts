/** What the OpenAPI document promises to clients that are generated from it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fieldsPage, rowFor } from '../../scripts/openapi-fields.ts';
import { errorStatus } from '../../src/contract/errors.ts';
import { expectRows } from '../support/rows.ts';

type Json = Record<string, unknown>;
interface Operation {
  responses: Record<string, Json>;
}
const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; responses: Record<string, Json> };
};
const { schemas } = document.components;

/** The schema that a reference names, with what stands beside the reference. */
function resolved({ $ref, ...own }: Json): Json {
  return typeof $ref === 'string' ? { ...schemas[$ref.split('/').at(-1)!], ...own } : own;
}

/** Every schema inside, with its place. References are not followed. */
function* schemasIn(schema: Json, place: string): Generator<[place: string, schema: Json]> {
  yield [place, schema];
  const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
  const choices = [...((schema['anyOf'] ?? []) as unknown[]), ...((schema['oneOf'] ?? []) as unknown[])];
  const inner = [schema['items'], schema['additionalProperties'], ...choices];
  for (const [name, field] of fields) yield* schemasIn(field, `${place}.${name}`);
  for (const one of inner) if (typeof one === 'object' && one !== null) yield* schemasIn(one as Json, place);
}
const everySchema = Object.entries(schemas).flatMap(([name, schema]) => [...schemasIn(schema, name)]);

test('a schema that several operations have is written once', () => {
  const places = new Map<string, string[]>();
  for (const [place, schema] of everySchema) {
    const text = JSON.stringify(schema, (key, value: unknown) =>
      ['description', 'examples'].includes(key) ? undefined : value,
    );
    places.set(text, [...(places.get(text) ?? []), place]);
  }
  const repeated = [...places].filter(([text, found]) => found.length > 1 && text.length > 200);
  // Name it in scripts/openapi-shared.ts.
  expect(repeated.map(([, found]) => found)).toEqual([]);
});

/** Every field of a request or a response, by its place. */
const everyField = everySchema.flatMap(([place, schema]) =>
  Object.entries((schema['properties'] ?? {}) as Record<string, Json>).map(
    ([name, field]) => [`${place}.${name}`, field] as const,
  ),
);

test('every field of a request and of a response has a description', () => {
  const described = ([, { description }]: readonly [string, Json]): boolean =>
    typeof description === 'string' && description.length > 3;
  expect(everyField.length).toBeGreaterThan(900);
  expect(everyField.filter((field) => !described(field)).map(([place]) => place)).toEqual([]);
});

test('every row of the page of fields describes something', () => {
  const describing = everyField.filter(
    ([place, { description }]) => description === fieldsPage.get(rowFor(place) ?? '')?.meaning,
  );
  const used = new Set([...describing.map(([place]) => rowFor(place)), ...Object.keys(schemas)]);
  expect([...fieldsPage.keys()].filter((name) => !used.has(name))).toEqual([]);
});

test('the name of a request tells generators of clients that its fields with a default may be left out', () => {
  const optional = everySchema.filter(([place, schema]) => {
    const required = (schema['required'] ?? []) as string[];
    const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
    return (
      !place.includes('requestBody') && fields.some(([name, field]) => 'default' in field && !required.includes(name))
    );
  });
  expect(optional.map(([place]) => place)).toEqual([]);
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

test('a number declares its range and its default', () =>
  expectRows(
    [
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
    ] as const,
    ([operation, field, range, preset]) => {
      const fields = schemas[`${operation}.requestBody`]?.['properties'] as Record<string, Json> | undefined;
      const schema = resolved(fields?.[field] ?? {});
      const options = [schema, ...((schema['anyOf'] ?? []) as Json[])];
      const number = options.find(({ type }) => type === 'integer' || type === 'number');
      expect([number?.['minimum'], number?.['maximum'], schema['default']]).toEqual([...range, preset]);
    },
  ));

/** Every field of this name in the responses, as `name: types`. */
function responseFields(name: RegExp): string[] {
  const found = new Set<string>();
  const visited = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    // A condition holds conditions.
    const reference = (value as Json)['$ref'];
    if (reference !== undefined && visited.has(reference)) return;
    visited.add(reference);
    const whole = resolved(value as Json);
    for (const [field, schema] of Object.entries((whole['properties'] ?? {}) as Record<string, Json>)) {
      if (!name.test(field)) continue;
      const options = ((schema['anyOf'] as Json[] | undefined) ?? [schema]).map(resolved);
      const types = options
        .flatMap(({ type, format }) => (format ?? type) as string[])
        .filter((type) => type !== 'null');
      found.add(`${field}: ${types.join()}`);
    }
    for (const inner of Object.values(whole)) visit(inner);
  };
  for (const { responses } of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    visit(responses['200']);
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
  // 402, 502 and 508 are the edge's.
  const ofEdge = [402, 502, 508];
  const every = [...new Set(Object.values(errorStatus))].filter((status) => !ofEdge.includes(status)).map(String);
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
