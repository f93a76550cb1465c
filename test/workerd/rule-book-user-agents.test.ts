/** User agent rules in the RuleBook: look-ups find what a scan would find, and the number of rules is bounded. */
import { runInDurableObject } from 'cloudflare:test';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { failed } from '../../src/result.ts';
import { rulePage } from '../../src/store/rule-book/client.ts';
import { userAgentRulesIn } from '../../src/store/rule-book/object/user-agent-lookup.ts';
import { USER_AGENT_RULES_MAX } from '../../src/store/rule-book/object/write-rules.ts';
import type { WriteAuthor } from '../../src/store/rule-book/rpc.ts';
import { ruleBookStub } from './rule-book-loaded.ts';

const author: WriteAuthor = { nowMs: 1, actor: 'key-1', kind: 'create' };
const agentRule = (value: string) => ({ type: 'userAgent' as const, value, verdict: 'block' as const });
const none = async (): Promise<void> => {};

/** Few letters, so that values overlap, nest and share beginnings; with characters of 1 to 4 bytes. */
const letters = fc.constantFrom('a', 'b', ' ', 'é', '€', '😀', '\u{10FFFF}');
const word = (maxLength: number) => fc.array(letters, { minLength: 1, maxLength }).map((parts) => parts.join(''));

test('look-ups find the same rules as a scan', { timeout: 60_000 }, async () => {
  await runInDurableObject(ruleBookStub('agents'), async (_, { storage: { sql } }) => {
    const run = async (values: readonly string[], header: string): Promise<void> => {
      sql.exec('DELETE FROM rules');
      for (const value of values) {
        sql.exec('INSERT OR IGNORE INTO rules VALUES (5, ?, 2, 0, NULL, NULL, NULL, 1, 1, 1, 1)', value);
      }
      const expected = [...new Set(values)].filter((value) => header.includes(value));
      expect((await userAgentRulesIn(sql, header, 1000, none)).toSorted()).toEqual(expected.toSorted());
    };
    await fc.assert(fc.asyncProperty(fc.array(word(6), { maxLength: 30 }), word(40), run), { numRuns: 400 });
  });
});

// About three seconds of look-ups on an idle machine.
test('a repetitive header of 16 KiB costs no more than another one', { timeout: 60_000 }, async () => {
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
