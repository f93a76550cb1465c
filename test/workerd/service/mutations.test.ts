/**
 * The schema of every operation, turned against it: missing fields, wrong types, huge values, strange scripts,
 * prototype names, form fields twice. The response is always 400 with the field's path, never 500, and nothing is
 * written.
 */
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { toJSONSchema } from 'zod/v4/core';
import type { Operation } from '../../../src/service/operations/define-operation.ts';
import { operations } from '../../../src/service/operations/operation-table.ts';
import { runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';
import { newAccount, send, serviceEnv } from './service-under-test.ts';

interface MemberSchema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  maxLength?: number;
  anyOf?: MemberSchema[];
  properties?: Record<string, MemberSchema>;
  required?: string[];
}

/** Far above every bound of a text field. */
const HUGE_CHARS = 70_000;
const RANDOM_BODIES_PER_OPERATION = runs(12);

let token = '';
beforeAll(async () => {
  ({ token } = await newAccount());
});

/** The bindings, with every write recorded. */
function watchedWrites(): { env: ServiceEnv; writes: string[] } {
  const writes: string[] = [];
  const DB = new Proxy(serviceEnv.DB, {
    get(target, name) {
      if (name === 'prepare') {
        return (sql: string) => {
          if (!/^\s*SELECT/i.test(sql)) writes.push(sql);
          return target.prepare(sql);
        };
      }
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { env: { ...serviceEnv, DB }, writes };
}

async function post(operation: Operation, body: string, contentType = 'application/json') {
  const { env, writes } = watchedWrites();
  const headers = { authorization: `Bearer ${token}`, 'content-type': contentType };
  const response = await send(operation.path, { method: operation.method, headers, body }, env);
  const text = await response.text();
  return { status: response.status, text, writes };
}

/** Expects a refusal that names each of the paths. */
async function expectRefusedAt(operation: Operation, body: string, wanted: readonly string[], contentType?: string) {
  const { status, text, writes } = await post(operation, body, contentType);
  expect([status, text]).toEqual([400, expect.stringContaining('"error"')]);
  const { error } = JSON.parse(text) as { error: { code: number; key: string; details?: { path: string }[] } };
  expect(error.code).toBe(400);
  expect(error.key).toMatch(/^API\.(INVALID_BODY|PARSE_ERROR|MISSING_BODY)$/);
  const paths = (error.details ?? []).map((detail) => detail.path);
  const isNamed = (name: string) => paths.some((one) => one === name || one.startsWith(`${name}.`));
  expect(wanted.filter((name) => !isNamed(name))).toEqual([]);
  expect(writes).toEqual([]);
}

function schemaOf(operation: Operation): MemberSchema {
  return toJSONSchema(operation.body, { io: 'input', unrepresentable: 'any' }) as MemberSchema;
}

/** The JSON types that a field accepts. Empty: any type. */
function typesOf(schema: MemberSchema): Set<string> {
  if (schema.anyOf) {
    const branches = schema.anyOf.map(typesOf);
    return branches.some((types) => types.size === 0) ? new Set() : new Set(branches.flatMap((types) => [...types]));
  }
  if (schema.type !== undefined) return new Set([schema.type === 'integer' ? 'number' : schema.type]);
  if (schema.const !== undefined) return new Set([typeof schema.const]);
  return new Set(schema.enum?.map((value) => typeof value) ?? []);
}

const samples: Readonly<Record<string, unknown>> = {
  string: 'text',
  number: 7,
  boolean: true,
  null: null,
  object: { unexpected: { deep: [1] } },
  array: [[['x']]],
};

const withBodies = operations.filter((operation) => operation.method !== 'GET');
const rows = withBodies.map((operation) => {
  const schema = schemaOf(operation);
  return { operation, schema, members: Object.entries(schema.properties ?? {}) };
});

/** Checks a fact for all operations that take a body. A failure names the operation. */
function everyOperation(check: (row: (typeof rows)[number]) => Promise<void>) {
  return () => expectRows(rows, check, ({ operation }) => operation.name);
}

test(
  'names every required field that is missing',
  everyOperation(async ({ operation, schema }) => {
    const { required = [] } = schema;
    if (required.length > 0) await expectRefusedAt(operation, '{}', required);
  }),
);

test('names every field that must not be of a type', () =>
  expectRows(
    Object.entries(samples),
    ([type, value]) =>
      everyOperation(async ({ operation, members }) => {
        const refusing = members.filter(([, member]) => {
          const accepted = typesOf(member);
          return accepted.size > 0 && !accepted.has(type);
        });
        const names = refusing.map(([name]) => name);
        if (names.length === 0) return;
        await expectRefusedAt(operation, JSON.stringify(Object.fromEntries(names.map((name) => [name, value]))), names);
      })(),
    ([type]) => type,
  ));

test(
  'bounds every text',
  everyOperation(async ({ operation, members }) => {
    for (const [name, member] of members) {
      if (!typesOf(member).has('string')) continue;
      // The operation's own limit on its body bounds a whole file as text.
      if (member.maxLength === undefined && member.type === 'string' && operation.maxBodyBytes) continue;
      for (const unit of ['a', '😀']) {
        await expectRefusedAt(operation, JSON.stringify({ [name]: unit.repeat(HUGE_CHARS) }), [name]);
      }
    }
  }),
);

test(
  'refuses names of the prototype chain and look-alikes',
  everyOperation(async ({ operation }) => {
    // The parser stops at the first `__proto__`, and so names it alone.
    for (const names of [
      ['constructor', 'prototype', 'toString', 'hasOwnProperty', 'nаme', 'name\u0000'],
      ['__proto__'],
    ]) {
      const body = `{${names.map((name) => `${JSON.stringify(name)}:{"polluted":true}`).join(',')}}`;
      await expectRefusedAt(operation, body, names);
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  }),
);

test(
  'refuses a form field that appears twice, unless it takes a list',
  everyOperation(async ({ operation, members }) => {
    const form = 'application/x-www-form-urlencoded';
    for (const [name, member] of members) {
      const types = typesOf(member);
      const body = `${name}=1&${name}=2`;
      if (types.size > 0 && !types.has('array')) await expectRefusedAt(operation, body, [name], form);
      else expect((await post(operation, body, form)).status).toBeLessThan(500);
    }
  }),
);

test(
  'responds to any JSON, and never with 500',
  everyOperation(async ({ operation, members }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.jsonValue({ maxDepth: 4 }),
          fc.record(Object.fromEntries(members.map(([name]) => [name, fc.jsonValue({ maxDepth: 3 })])), {
            requiredKeys: [],
          }),
        ),
        async (body) => {
          const { status, text } = await post(operation, JSON.stringify(body));
          expect(status).toBeLessThan(500);
          if (status >= 400) expect(JSON.parse(text)).toHaveProperty('error');
        },
      ),
      { numRuns: RANDOM_BODIES_PER_OPERATION },
    );
  }),
);
