import { describe, expect, test } from 'vitest';
import { ENTRIES_MAX, LIST_MAX_BYTES, listErrorText } from '../../../src/lists/list-format.ts';
import { readList } from '../../../src/lists/read-list.ts';
import { expectRows } from '../../support/rows.ts';
import { read, streamOf } from './lists-under-test.ts';

const values = async (...given: Parameters<typeof read>): Promise<string[] | string> => {
  const result = await read(...given);
  return typeof result === 'string' ? result : result.values;
};

describe('a text list', () => {
  test('has addresses, networks, ranges and AS numbers, with comments and remarks', async () => {
    const text = [
      '\uFEFF# Example list',
      '; comment',
      '// comment',
      '',
      '1.10.16.0/20 ; SBL256894',
      '5.5.5.5\t9',
      '  9.9.9.9   # remark',
      '2.0.0.0-2.0.0.3',
      '2.0.1.0 - 2.0.1.4 ten-fold',
      '7.7.7.7 seen-often',
      'AS64496 Example',
      'as64497',
      '2a00:1450::/32',
      '2a00:1450:4001::1',
    ].join('\r\n');
    expect(await values('text', text)).toEqual([
      '1.10.16.0/20',
      '2.0.0.0/30',
      '2.0.1.0/30',
      '2.0.1.4/32',
      '5.5.5.5/32',
      '7.7.7.7/32',
      '9.9.9.9/32',
      '2a00:1450::/32',
      '2a00:1450:4001::1/128',
      '64496',
      '64497',
    ]);
  });

  test('says which lines are left out, and why', async () => {
    const text = '0.0.0.0/0\n10.1.2.3\n1.1.1.1\n::/0\nnonsense\n8.8.8.8\n1.2.3.9-1.2.3.1\n2.2.2.2\n3.3.3.3\n4.4.4.4';
    const result = await read('text', text);
    expect(result).toMatchObject({
      values: ['1.1.1.1/32', '2.2.2.2/32', '3.3.3.3/32', '4.4.4.4/32', '8.8.8.8/32'],
      report: { lines: 10, notUnderstood: 2, reserved: 1, tooWide: 2 },
    });
    expect(typeof result === 'string' ? [] : result.report.examples).toEqual([
      { line: 1, text: '0.0.0.0/0', reason: 'is wider than a list may have' },
      { line: 2, text: '10.1.2.3', reason: 'is reserved, not of the internet' },
      { line: 4, text: '::/0', reason: 'is wider than a list may have' },
      { line: 5, text: 'nonsense', reason: 'is no address, network, range or AS number' },
      { line: 7, text: '1.2.3.9-1.2.3.1', reason: 'is no address, network, range or AS number' },
    ]);
  });

  test('has reserved networks where the operator wants them, and never everybody', async () => {
    expect(await values('text', '10.0.0.0/8\n0.0.0.0/0', { includeReserved: true })).toEqual(['10.0.0.0/8']);
  });

  test('does not repeat what acts on a terminal', async () => {
    const result = await read('text', `1.1.1.1\n2.2.2.2\n\u001b[2J\u202eevil${'x'.repeat(9000)}\n`);
    const [example] = typeof result === 'string' ? [] : result.report.examples;
    expect(example?.text).toBe(`[2J evil${'x'.repeat(71)}`);
  });

  test('is refused when it is no list', () =>
    expectRows(
      [
        ['nothing', '', 'The list has no entries'],
        ['comments only', '# nothing\n\n', 'The list has no entries'],
        ['a web page', '\n <!doctype html><p>1.2.3.4', 'The answer is a web page'],
        ['mostly other text', 'hello\nworld\n1.2.3.4\n', '2 of 3 lines are no entries'],
        ['reserved networks only', '10.0.0.0/8\n', 'The list has no entries'],
      ],
      async ([, text, error]) => {
        expect(await values('text', text)).toBe(error);
      },
    ));

  test('is refused when it is too long or has too many entries', async () => {
    const block = new TextEncoder().encode('# comment\n'.repeat(100_000));
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += block.length;
        controller.enqueue(block);
      },
    });
    const long = await readList(endless, { format: 'text' });
    expect(long.ok ? '' : listErrorText(long.error)).toBe('The list is too long');
    expect(sent).toBeLessThan(LIST_MAX_BYTES + 3 * block.length);

    let next = 0;
    const many = new ReadableStream<Uint8Array>({
      pull(controller) {
        let lines = '';
        for (let i = 0; i < 10_000; i += 1, next += 1)
          lines += `${20 + (next >>> 16)}.${(next >>> 8) & 255}.${next & 255}.1\n`;
        controller.enqueue(new TextEncoder().encode(lines));
        if (next > ENTRIES_MAX + 10_000) controller.close();
      },
    });
    const full = await readList(many, { format: 'text' });
    expect(full.ok ? '' : listErrorText(full.error)).toBe(`The list has more than ${ENTRIES_MAX} entries`);
  });

  test.each([
    ['text', ['4.0.0.1-4.255.255.254'], {}],
    ['text', ['10.0.0.1-10.255.255.254', '2001:db8::/32', '9.9.9.9'], {}],
    ['json', ['4.0.0.1-4.255.255.254'], { selector: '[]' }],
  ] as const)(
    'of %s with %j again and again is refused for its networks, kept or left out',
    async (format, ranges, options) => {
      const lines = Array.from({ length: 50_000 }, () => ranges).flat();
      const text = format === 'json' ? JSON.stringify(lines) : lines.join('\n');
      const result = await readList(streamOf(text, 1_000_000), { format, ...options });
      expect(result.ok ? result.value.report : listErrorText(result.error)).toBe(
        `The list has more than ${ENTRIES_MAX} entries`,
      );
    },
  );

  test('is refused when it breaks off', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('1.2.3.4\n'));
        controller.error(new Error('gone'));
      },
    });
    const result = await readList(broken, { format: 'text' });
    expect(result.ok ? '' : listErrorText(result.error)).toBe('The answer broke off');
  });
});

describe('a CSV list', () => {
  test('has its values in the column that is named, quoted or not', async () => {
    const text =
      '# generated\n"first_seen","Dst_IP","note"\n"2026","1.2.3.4","a, ""b"""\n2026, 5.6.7.0/24 ,x\n2026,,x\n';
    expect(await read('csv', text, { column: 'dst_ip' })).toMatchObject({
      values: ['1.2.3.4/32', '5.6.7.0/24'],
      report: { lines: 3, notUnderstood: 1 },
    });
  });

  test('has no other column after a carriage return inside a field', async () => {
    expect(await values('csv', 'name,ip\na\rb,1.2.3.4\n', { column: 'ip' })).toEqual(['1.2.3.4/32']);
  });

  test('has a column by number where there is no heading', async () => {
    expect(await values('csv', 'x,1.2.3.4\ny,5.6.7.8', { column: '2' })).toEqual(['1.2.3.4/32', '5.6.7.8/32']);
  });

  test('has bare numbers as AS numbers only in a column of that name', async () => {
    expect(await values('csv', 'asn,name\n64496,a\n', { column: 'asn' })).toEqual(['64496']);
    expect(await values('csv', 'ip,name\n64496,a\n', { column: 'ip' })).toBe('1 of 1 lines are no entries');
  });

  test('is refused without the column', async () => {
    expect(await values('csv', 'a,b\n1.2.3.4,x\n', { column: 'ip' })).toBe('The list has no column "ip"');
  });
});

describe('a JSON list', () => {
  const document = {
    meta: { count: 2 },
    data: [{ ip: '1.2.3.4' }, { ip: '5.6.7.0/24' }, { other: 1 }],
    prefixes: ['9.9.9.0/24'],
    networks: [{ asn: 64496 }],
  };
  test('has its values at the selector', () =>
    expectRows(
      [
        ['data[].ip', ['1.2.3.4/32', '5.6.7.0/24']],
        ['prefixes', ['9.9.9.0/24']],
        ['prefixes[]', ['9.9.9.0/24']],
        ['networks[].asn', ['64496']],
      ],
      async ([selector, expected]) => {
        expect(await values('json', JSON.stringify(document), { selector })).toEqual(expected);
      },
    ));

  test('is refused at a selector that leads to no values', () =>
    expectRows(
      [
        ['data[].nothing', '3 of 3 lines are no entries'],
        ['missing[].ip', 'The document has nothing at "missing[].ip"'],
        ['__proto__', 'The document has nothing at "__proto__"'],
        ['data..ip', 'The document has nothing at "data..ip"'],
      ],
      async ([selector, error]) => {
        expect(await values('json', JSON.stringify(document), { selector })).toBe(error);
      },
    ));

  test('is refused when it is another kind of document', async () => {
    expect(await values('json', '{"data": [')).toBe('The answer is not JSON');
    expect(await values('json', '<html>')).toBe('The answer is a web page');
    expect(await values('json', '')).toBe('The list has no entries');
  });

  test('is refused before it is parsed when it has more values than fit into memory', async () => {
    const text = `[${'{},'.repeat(250_001)}{}]`;
    const result = await readList(streamOf(text, 1_000_000), { format: 'json', selector: '[].ip' });
    expect(result.ok ? '' : listErrorText(result.error)).toBe('The document has more than 500000 values');
  });

  test('may be one text in a document of one line, of any length', async () => {
    const list = Array.from({ length: 5000 }, (_, i) => `20.0.${i >> 8}.${i & 255}`);
    const result = await readList(streamOf(JSON.stringify(list), 4096), { format: 'json' });
    expect(result.ok && result.value.entries.length).toBe(5000);
  });

  test('may come as one object in each line', async () => {
    const text = '{"cidr":"1.2.3.0/24"}\n{"cidr":"2001:67c::/32"}\n{"type":"metadata"}\nno json\n{"cidr":"4.4.4.4"}\n';
    expect(await read('ndjson', text, { selector: 'cidr' })).toMatchObject({
      values: ['1.2.3.0/24', '4.4.4.4/32', '2001:67c::/32'],
      report: { lines: 5, notUnderstood: 2 },
    });
  });
});
