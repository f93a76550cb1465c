import { expect, test } from 'vitest';
import { checkReadings } from '../../../src/service/operations/protect/lists/read-lists.ts';
import type { Account } from '../../../src/service/operations/define-operation.ts';

const of = (id: string, nowMs: number) => () => checkReadings({ account: { id } as Account, nowMs });

test('an account may ask for sixty readings of lists in a minute, whatever others do', () => {
  for (let call = 0; call < 60; call += 1) of('one', 0)();
  expect(of('one', 59_999)).toThrow('At most 60 readings a minute. Try again later');
  expect(of('other', 59_999)).not.toThrow();
  expect(of('one', 60_000)).not.toThrow();
});
