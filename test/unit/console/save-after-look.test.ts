/** Saving what has no version: somebody else's change of the same member is told, and any other is kept. */
import { expect, test } from 'vitest';
import type { Refusal } from '../../../src/console/api/call.ts';
import { saveAfterLook } from '../../../src/console/settings/save-over.ts';
import { failed, ok } from '../../../src/result.ts';

interface Channel {
  name: string;
  kinds: readonly string[];
}

/** A service with one channel, and what a form has shown of it. */
function service(stored: Channel) {
  const state = { stored, writes: 0 };
  return {
    state,
    save: (known: { current: Channel }, changes: Partial<Channel>) =>
      saveAfterLook(known, changes, {
        load: async () => ok(state.stored),
        save: async () => {
          state.writes += 1;
          state.stored = { ...state.stored, ...changes };
          return ok(state.stored);
        },
      }),
  };
}

test('a change that nobody else made is saved', async () => {
  const { state, save } = service({ name: 'a', kinds: [] });
  expect(await save({ current: state.stored }, { name: 'b' })).toEqual(ok({ name: 'b', kinds: [] }));
});

test('another member that somebody else has changed is kept', async () => {
  const { state, save } = service({ name: 'a', kinds: ['attack'] });
  const answer = await save({ current: { name: 'a', kinds: [] } }, { name: 'b' });
  expect(answer).toEqual(ok({ name: 'b', kinds: ['attack'] }));
  expect(state.writes).toBe(1);
});

test('the same member that somebody else has changed is not overwritten, and is replaced the second time', async () => {
  const { state, save } = service({ name: 'theirs', kinds: [] });
  const known = { current: { name: 'a', kinds: [] } };
  const answer = await save(known, { name: 'mine' });
  expect(answer.ok ? null : answer.error.message).toContain('Somebody else has changed name meanwhile.');
  expect(state).toEqual({ stored: { name: 'theirs', kinds: [] }, writes: 0 });
  expect(await save(known, { name: 'mine' })).toEqual(ok({ name: 'mine', kinds: [] }));
});

test('a value that is stored already, as after a lost response, is no conflict', async () => {
  const { save } = service({ name: 'mine', kinds: [] });
  expect((await save({ current: { name: 'a', kinds: [] } }, { name: 'mine' })).ok).toBe(true);
});

test('nothing is written when what is stored cannot be read', async () => {
  const refusal: Refusal = { status: 0, key: 'NETWORK', message: 'gone', details: [], requestId: null };
  const known = { current: { name: 'a', kinds: [] } };
  const answer = await saveAfterLook<Channel>(
    known,
    { name: 'b' },
    {
      load: async () => failed(refusal),
      save: async () => {
        throw new Error('It is saved');
      },
    },
  );
  expect(answer).toEqual(failed(refusal));
});
