/** Import and export of rule files, history and rollback. */
import { describe, expect, test } from 'vitest';
import { expectRows } from '../support/rows.ts';
import { newInstance } from './rule-book-instance.ts';
import { send } from './service/service-under-test.ts';

/** Files do not contain who changed a rule and when. */
function withoutAuthors(body: any): unknown[] {
  return body.rules.map((rule: object) => ({
    ...rule,
    createdAt: null,
    createdBy: null,
    updatedAt: null,
    updatedBy: null,
  }));
}

describe('import and export', () => {
  test('a list with mistakes is imported without them, and each wrong line is reported', async () => {
    const { rules } = await newInstance();
    const content = '# drop list\n192.0.2.0/24\n1.2.3\nAS64496\n198.51.100.7 # seen\n';
    const { status, body } = await rules('/import', { content, verdict: 'block' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ format: 'list', created: 3, skipped: 1, skippedLines: [{ line: 3 }], version: 1 });
    const again = await rules('/import', { content, verdict: 'block' });
    expect(again.body).toMatchObject({ created: 0, updated: 0, unchanged: 3, version: 1 });
  });

  test('more than 10,000 rules are 413 with the limit; 10,000 rules with comments are accepted', async () => {
    const { rules } = await newInstance();
    const lines = Array.from({ length: 10_001 }, (_, i) => `# ${i}\n10.0.${i >> 8}.${i & 255}`);
    const over = await rules('/import', { content: lines.join('\n'), verdict: 'block' });
    expect(over.status).toBe(413);
    expect(over.body.error.message).toContain('10000');
    expect((await rules('', { limit: 1 })).body.total).toBe(0);
    const within = await rules('/import', { content: lines.slice(1).join('\n'), verdict: 'block' });
    expect(within.body).toMatchObject({ created: 10_000, skipped: 0 });
  });

  test('more than 10,000 lines that are no rules are 413 too, because each line costs a check', async () => {
    const { rules } = await newInstance();
    const bad = await rules('/import', { content: '{\n'.repeat(10_001), format: 'ndjson', verdict: 'block' });
    expect([bad.status, bad.body.error.key]).toEqual([413, 'API.TOO_MANY_ITEMS']);
    const within = await rules('/import', { content: '{\n'.repeat(10_000), format: 'ndjson', verdict: 'block' });
    expect(within.body).toMatchObject({ created: 0, skipped: 10_000 });
  });

  test('an import with a mistake is 400', () =>
    expectRows(
      [
        ['no content', { content: '' }],
        ['an unknown format', { content: '192.0.2.1', format: 'xml' }],
        ['an unknown verdict', { content: '192.0.2.1', verdict: 'drop' }],
        ['an unknown field', { content: '192.0.2.1', colour: 'red' }],
      ],
      async ([, body]) => {
        const { rules } = await newInstance();
        expect((await rules('/import', body)).status).toBe(400);
      },
    ));

  test('a plain list is exported for one verdict', async () => {
    const { token, rules } = await newInstance();
    expect((await rules('/export', { format: 'list' })).status).toBe(400);
    await rules('/import', { content: '192.0.2.0/24 # a\nAS64496', verdict: 'block' });
    await rules('/import', { content: '198.51.100.1', verdict: 'allow' });
    const response = await send('/protect/access-rules/export', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ format: 'list', verdict: 'block' }),
    });
    expect(await response.text()).toBe('# 2 rules, verdict block\n192.0.2.0/24\nAS64496\n');
  });

  test('a line without a verdict is skipped when the call has none', async () => {
    const { rules } = await newInstance();
    const { body } = await rules('/import', { content: '192.0.2.1' });
    expect(body).toMatchObject({ created: 0, skipped: 1, version: 0 });
    expect(body.skippedLines[0].reason).toContain('verdict');
  });

  test.each(['csv', 'ndjson'])('a %s export can be imported again without a change', async (format) => {
    const from = await newInstance();
    await from.rules('/create', {
      rules: [
        {
          type: 'ip',
          value: '192.0.2.1',
          verdict: 'block',
          note: 'a "quote", a\nline',
          expiry: '2045-01-01T00:00:00Z',
        },
        { type: 'userAgent', value: 'bad, bot', verdict: 'challenge', mode: 'monitor', rollout: 2.5 },
        { type: 'countryCode', value: 'T1', verdict: 'allow' },
        { type: 'userAgent', value: '=cmd|bot', verdict: 'block', note: '@from the "war room"' },
      ],
    });
    const response = await send('/protect/access-rules/export', {
      method: 'POST',
      headers: { authorization: `Bearer ${from.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ format }),
    });
    const content = new TextDecoder().decode(await response.arrayBuffer());
    if (format === 'csv') expect(content).toContain(`userAgent,'=cmd|bot,block,enforce,,100,"'@from`);
    const to = await newInstance();
    expect((await to.rules('/import', { content })).body).toMatchObject({ format, created: 4, skipped: 0 });
    expect(withoutAuthors((await to.rules('', {})).body)).toEqual(withoutAuthors((await from.rules('', {})).body));
  });
});

describe('history', () => {
  test('lists the API key of each version, and a rollback undoes an import', async () => {
    const { rules } = await newInstance();
    await rules('/create', { rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'block' }] });
    await rules('/import', { content: '10.0.0.0/8\n192.0.2.1', verdict: 'allow' });
    const { body } = await rules('/history', {});
    expect(body).toMatchObject({ version: 2, oldest: 0, versions: [{ version: 2, kind: 'import' }, { version: 1 }] });
    expect((await rules('/rollback', { version: 1 })).body).toEqual({
      version: 3,
      restores: 1,
      created: 0,
      updated: 1,
      deleted: 1,
    });
    expect((await rules('', {})).body.rules).toMatchObject([{ value: '192.0.2.1', verdict: 'block' }]);
    expect((await rules('/rollback', { version: 99 })).status).toBe(404);
  });
});
