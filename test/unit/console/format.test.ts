/** Text, numbers, times and pasted references as the console reads and shows them. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { curlLine } from '../../../src/console/api/call.ts';
import { counted, duration, percent } from '../../../src/console/format/numbers.ts';
import { axisTime, briefTime } from '../../../src/console/format/times.ts';
import { visibleParts } from '../../../src/console/format/visitor-text.ts';
import { boundsText, controlOf, settingText, settingValue } from '../../../src/console/settings/setting-schema.ts';
import { changedMembers } from '../../../src/console/settings/save-over.ts';
import { bucketSecondsOf, viewWindow } from '../../../src/console/url/params.ts';
import { expectRows } from '../../support/rows.ts';

describe('text of a visitor', () => {
  test('shows what hides in it', () =>
    expectRows(
      [
        ['\u202egnp.exe', ['U+202E', 'gnp.exe']],
        ['a\u0000b', ['a', 'U+0000', 'b']],
        ['\u200b', ['U+200B']],
        ['plain – text ✓', ['plain – text ✓']],
        ['', []],
      ],
      ([text, parts]) => {
        expect(visibleParts(text).map((part) => part.text)).toEqual(parts);
      },
    ));

  test('never holds a character that hides or reorders, and loses no other one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const parts = visibleParts(text);
        const plain = parts.filter((part) => !part.isHidden).map((part) => part.text);
        expect(plain.join('')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
        expect(plain.join('')).toBe(text.replaceAll(/[\p{C}\u2028\u2029\u115f\u1160\u3164\uffa0]/gu, ''));
      }),
    );
  });
});

describe('the shell line of a call', () => {
  test('leaves no quote open, whatever the body has', () => {
    const line = curlLine(
      { method: 'POST', path: '/sites/get', body: { name: `it's $(rm) "x"` } },
      'https://g.example',
    );
    expect(line).toBe(
      `curl -s 'https://g.example/sites/get' -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"name":"it'\\''s $(rm) \\"x\\""}'`,
    );
  });
});

describe('the window of a view', () => {
  const now = Date.UTC(2027, 0, 1, 12, 0, 30);
  test('is a known range, or 24 hours', () =>
    expectRows(
      [
        [{}, '24h'],
        [{ range: '7d' }, '7d'],
        [{ range: 'constructor' }, '24h'],
        [{ from: '5', to: '4' }, '24h'],
        [{ from: '1e3', to: String(now) }, '24h'],
      ],
      ([params, range]) => {
        expect(viewWindow(params, now)).toMatchObject({ range });
      },
    ));

  test('a fixed one is what the address says', () => {
    const [from, to] = [now - 3_600_000, now];
    expect(viewWindow({ from: String(from), to: String(to) }, now)).toEqual({ since: from, until: to, range: null });
  });

  test('has some hundred buckets of whole minutes', () =>
    expectRows(['1h', '24h', '7d', '30d'], (range) => {
      const window = viewWindow({ range }, now);
      const seconds = bucketSecondsOf(window);
      expect(seconds % 60).toBe(0);
      expect((window.until - window.since) / 1000 / seconds).toBeGreaterThan(50);
      expect((window.until - window.since) / 1000 / seconds).toBeLessThan(200);
    }));
});

describe('a setting', () => {
  test('is changed by the control of its type', () =>
    expectRows(
      [
        [{ type: 'boolean' }, 'flag'],
        [{ type: 'string', enum: ['a', 'b'] }, 'choice'],
        [{ type: 'integer' }, 'number'],
        [{ type: 'array', items: { type: 'string' } }, 'lines'],
        [{ type: 'object', properties: { a: { type: 'boolean' } } }, 'group'],
        [{ type: 'array', items: { type: 'string', enum: ['a'] } }, 'boxes'],
        [{ type: 'array', items: { type: 'object', properties: { a: { type: 'boolean' } } } }, 'rows'],
        [{ anyOf: [{ type: 'number' }, { type: 'object', properties: { a: { type: 'number' } } }] }, 'group'],
        [{ type: 'object', additionalProperties: { type: 'object' } }, 'map'],
        [{ type: 'object' }, null],
      ],
      ([schema, kind]) => {
        expect(controlOf(schema)).toBe(kind);
      },
    ));

  test('comes back from its text as it was', () => {
    const schema = { type: 'array', items: { type: 'string' } };
    const value = ['/a/**', '/b'];
    expect(settingValue(schema, settingText(schema, value))).toEqual({ ok: true, value });
  });

  test.each([
    [{ type: 'number' }, 'abc', 'is not a number'],
    [{ type: 'number' }, 'Infinity', 'is not a number'],
  ])('%j refuses %j', (schema, text, error) => {
    expect(settingValue(schema, text)).toEqual({ ok: false, error });
  });

  test('only what differs is sent, and what is empty is left out', () => {
    expect(changedMembers(['a', 'b', 'c'], { a: 1, b: 'x', c: 'y' }, { a: 2, b: 'x', c: undefined })).toEqual({ a: 2 });
  });

  test('says its range and default, and no bound that only means any number', () => {
    expect(boundsText({ minimum: 1, maximum: 10, default: 4 })).toBe('1 to 10, default 4');
    expect(boundsText({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })).toBe('');
  });
});

test.each([
  [0, 0, '–'],
  [1, 3, '33.3%'],
])('%d of %d is %s', (part, total, text) => {
  expect(percent(part, total)).toBe(text);
});

test.each([
  [500, 'less than a second'],
  [61_000, '1 minute'],
  [2 * 86_400_000, '2 days'],
])('%d ms are %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

describe('a number with its noun', () => {
  test('has the plural unless the number is one', () =>
    expectRows(
      [
        [0, 'rule', undefined, '0 rules'],
        [1, 'rule', undefined, '1 rule'],
        [2000, 'rule', undefined, '2,000 rules'],
        [1, 'line was', 'lines were', '1 line was'],
        [2, 'address', 'addresses', '2 addresses'],
      ],
      ([value, one, many, text]) => {
        expect(counted(value, one, many)).toBe(text);
      },
    ));
});

test('the times on the axis of a chart differ: seconds for minutes, then minutes, then days', () => {
  const at = new Date(2027, 4, 20, 15, 4, 5).getTime();
  expect([30_000, 3_600_000, 7 * 86_400_000].map((spanMs) => axisTime(at, spanMs))).toEqual([
    '15:04:05',
    '15:04',
    expect.stringMatching(/20/),
  ]);
});

describe('a time in a table', () => {
  const now = new Date(2027, 4, 20, 15, 4, 5).getTime();
  test.each([
    [new Date(2027, 4, 20, 0, 0, 1), /^00:00:01$/],
    [new Date(2027, 4, 19, 23, 59, 59), /19.*23:59$/],
    [new Date(2026, 11, 31, 23, 59), /31.*2026|2026.*31/],
  ])('of %s has no more than tells it from now', (at, text) => {
    expect(briefTime(at.getTime(), now)).toMatch(text);
  });
});
