/** User agent rules in the RuleBook: look-ups find what a scan would find, and what a compile costs is bounded. */
import { runInDurableObject } from 'cloudflare:test';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { failed } from '../../src/result.ts';
import { rulePage } from '../../src/store/rule-book/client.ts';
import { USER_AGENT_RULES_MAX, userAgentRulesIn } from '../../src/store/rule-book/object/user-agents.ts';
import type { WriteAuthor } from '../../src/store/rule-book/rpc.ts';
import { runs } from '../support/properties.ts';
import { asEdge, newInstance } from './rule-book-instance.ts';
import { ruleBookStub } from './rule-book-loaded.ts';
import { send } from './service/service-under-test.ts';

const author: WriteAuthor = { nowMs: 1, actor: 'key-1', kind: 'create' };
const agentRule = (value: string) => ({ type: 'userAgent' as const, value, verdict: 'block' as const });
const none = async (): Promise<void> => {};

/** Few letters, so that values overlap, nest and share beginnings; with characters of 1 to 4 bytes. */
const letters = fc.constantFrom('a', 'b', ' ', 'é', '€', '😀', '\u{10FFFF}');
const word = (maxLength: number) => fc.array(letters, { minLength: 1, maxLength }).map((parts) => parts.join(''));

test('look-ups find the same rules as a scan', async () => {
  await runInDurableObject(ruleBookStub('agents'), async (_, { storage: { sql } }) => {
    const run = async (values: readonly string[], header: string): Promise<void> => {
      sql.exec('DELETE FROM rules');
      for (const value of values) {
        sql.exec('INSERT OR IGNORE INTO rules VALUES (5, ?, 2, 0, NULL, NULL, NULL, 1, 1, 1, 1)', value);
      }
      const expected = [...new Set(values)].filter((value) => header.includes(value));
      expect((await userAgentRulesIn(sql, header, 1000, none)).toSorted()).toEqual(expected.toSorted());
    };
    await fc.assert(fc.asyncProperty(fc.array(word(6), { maxLength: 30 }), word(40), run), { numRuns: runs(400) });
  });
});

// About three seconds of look-ups on an idle machine.
test('a repetitive header of 16 KiB costs no more than another one', async () => {
  const book = ruleBookStub('repeats');
  await book.upsert(
    Array.from({ length: 300 }, (_, i) => agentRule('b'.repeat(i + 1))),
    author,
  );
  const { rules } = await book.matching([], 'b'.repeat(16_384), 1000);
  expect(rules).toHaveLength(300);
});

test('a batch with more user agent rules than a compile can hold is refused as a whole', async () => {
  const book = ruleBookStub('full');
  await book.upsert([agentRule('one')], author);
  await runInDurableObject(book, (_, { storage }) => {
    storage.sql.exec('UPDATE counts SET rules = ? WHERE type = 5', USER_AGENT_RULES_MAX);
  });
  const outcome = await book.upsert([{ type: 'ip', value: '192.0.2.1', verdict: 'block' }, agentRule('two')], author);
  expect(outcome).toEqual(failed({ reason: 'too-many-rules', limit: USER_AGENT_RULES_MAX, type: 'userAgent' }));
  expect((await rulePage(book, { limit: 10 })).rules.map((rule) => rule.value)).toEqual(['one']);
  expect(await book.upsert([{ type: 'ip', value: '192.0.2.1', verdict: 'block' }], author)).toMatchObject({ ok: true });
});

/** 300 characters of three bytes, which need a state for nearly every byte: 2.7 million for 3,000 rules. */
const repeating = (i: number): string =>
  `${String.fromCharCode(0x4e00 + i)}${String.fromCharCode(0x9000 - i)}`.repeat(150);
const manyRepeating = Array.from({ length: 3000 }, (_, i) => agentRule(repeating(i)));

const failingIn = async (token: string): Promise<string[]> => {
  const answer = await send('/protect/metrics', { headers: { authorization: `Bearer ${token}` } });
  return (await answer.text()).split('\n').filter((line) => /^gatehouse_rules_failing\{.* 1$/.test(line));
};

test('user agent rules that repeat themselves are refused with 413 and the rule that needs most', async () => {
  const { rules } = await newInstance();
  const { status, body } = await rules('/create', { rules: [agentRule('curl'), ...manyRepeating] });
  expect(status).toBe(413);
  expect(body.error.message).toContain('1500000 states');
  const [detail] = body.error.details;
  expect(body.error.message).toContain(`userAgent:${manyRepeating[detail.index - 1]!.value.slice(0, 20)}`);
  expect(detail.path).toBe(`rules[${detail.index}].value`);
  expect((await rules('', {})).body).toMatchObject({ total: 0, version: 0 });
  expect((await rules('/create', { rules: [agentRule('curl'), ...manyRepeating.slice(0, 500)] })).status).toBe(200);
});

test('a book above the budget says so in health and metrics, and can be made smaller', async () => {
  const { id, token, jwt, rules } = await newInstance();
  const version = async () => (await asEdge(jwt, '/edge/v1/version')).json<any>();
  /** Objects of other files can have warnings of their own. */
  const warned = async (): Promise<string[]> => {
    const { warnings = [] } = await (await send('/health')).json<{ warnings?: string[] }>();
    return warnings.filter((warning) => warning.startsWith('The newest access rules of'));
  };
  const { base } = await version();
  expect(await warned()).toEqual([]);
  expect(await failingIn(token)).toEqual([]);

  const book = ruleBookStub(id);
  await runInDurableObject(book, async (object, { storage: { sql } }) => {
    for (const { value } of manyRepeating) {
      sql.exec('INSERT INTO rules VALUES (5, ?, 2, 0, NULL, NULL, NULL, 1, 1, 1, 1)', value);
      sql.exec(`INSERT INTO changes VALUES (1, 5, ?, NULL, '[2,0,null,null,null,1,1,1,1]')`, value);
    }
    sql.exec("INSERT INTO versions VALUES (1, 1, 1, 'create', ?, 0, 0, NULL)", manyRepeating.length);
    sql.exec('INSERT INTO counts VALUES (5, 2, ?)', manyRepeating.length);
    sql.exec('UPDATE book SET version = 1');
    await expect(object.compile()).rejects.toThrow('states');
    await expect(object.delta(base.hash, 1)).rejects.toThrow('states');
  });

  expect(await version()).toMatchObject({ base, delta: { version: 1 } });
  expect(await warned()).toEqual([expect.stringContaining('1 instance')]);
  expect(await failingIn(token)).toEqual([
    `gatehouse_rules_failing{instance="${id}",step="compile"} 1`,
    `gatehouse_rules_failing{instance="${id}",step="delta"} 1`,
  ]);

  expect((await rules('/create', { rules: [agentRule('curl')] })).status).toBe(413);
  expect((await rules('/create', { rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'block' }] })).status).toBe(200);
  const removed = await rules('/delete', { conditions: manyRepeating.map(({ type, value }) => ({ type, value })) });
  expect(removed.body).toMatchObject({ deleted: 3000, version: 3 });
  expect((await asEdge(jwt, `/edge/v1/rulesets/${base.hash}/delta/3`)).status).toBe(200);
  await book.compile();
  expect(await version()).toMatchObject({ base: { version: 3 } });
  expect(await warned()).toEqual([]);
  expect(await failingIn(token)).toEqual([]);
});
