import { expect, test } from 'vitest';
import { atLines, detectedText, typedValues } from '../../../src/console/views/rules/typed-values.ts';
import { ruleFileEntries } from '../../../src/contract/management/rule-file/rule-file.ts';

const PASTED = '# offices\n192.0.2.1\n\n198.51.100.0/24 # new\nAS64496\nNL\ncurl/8.5';

test('each line has the type that an import of the same text finds', () => {
  const typed = typedValues(PASTED, 'detected');
  const imported = [...ruleFileEntries(PASTED, 'list')];
  expect(typed.ok && typed.value.map(({ line, ...rule }) => ({ line, rule }))).toEqual(imported);
  expect(typed.ok && detectedText(typed.value)).toBe('1 address, 1 network, 1 AS number, 1 country, 1 user agent');
});

test('a line that is nothing is named with its number in the text and the reason', () => {
  expect(typedValues('192.0.2.1\n\n64496\nAS1', 'detected')).toEqual({
    ok: false,
    error: 'line 3: is only a number; write AS64496 for an AS number',
  });
  expect(typedValues('1\n2\n3', 'detected')).toMatchObject({
    error: expect.stringMatching(/^line 1: .*\. 2 more lines are wrong$/),
  });
});

test('of a chosen type, each line is one value, whatever it looks like', () => {
  expect(typedValues(' 192.0.2.1 \n\n#1 bot', 'userAgent')).toEqual({
    ok: true,
    value: [
      { line: 1, type: 'userAgent', value: '192.0.2.1' },
      { line: 3, type: 'userAgent', value: '#1 bot' },
    ],
  });
});

test('what the service refuses of a rule is at the line that the rule is from', () => {
  const typed = typedValues('# a\n\n192.0.2.1\n\n192.0.2.300', 'detected');
  const error = { status: 400, key: 'K', message: 'M', requestId: null };
  const details = [
    { path: 'rules[1].value', message: 'is not an address' },
    { path: 'rules[0].note', message: 'is long' },
  ];
  expect(atLines({ ...error, details }, typed.ok ? typed.value : []).details).toEqual([
    { path: 'values.4', message: 'is not an address' },
    { path: 'rules[0].note', message: 'is long' },
  ]);
});
