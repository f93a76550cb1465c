/** A reference that a visitor reads aloud: the short form finds its verdicts, unsealed and sealed, within its window. */
import { expect, test } from 'vitest';
import { shortReference } from '../../src/contract/edge/short-reference.ts';
import { everything } from '../../src/store/event-log/row-filter.ts';
import { shard, shardNames } from '../../src/store/event-log/client/shards.ts';
import { verdictLogOf } from '../../src/store/event-log/client/verdict-log.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { anotherInstance, newInstance, sendVerdicts } from './rule-book-instance.ts';
import { call, serviceEnv } from './service/service-under-test.ts';
import { testNow } from '../support/clock.ts';

const NOW = testNow();
const DAY_MS = 86_400_000;

/** A record whose id ends with these four characters. */
function recordAt(instanceId: string, timestamp: number, end: string, path: string) {
  const record = verdictRecordOf(instanceId, { timestamp, request_path: path });
  const id = `${record.id.slice(0, -4)}${end}`;
  return { ...record, id, request_id: id };
}

test('a short reference lists every verdict that it can be of, newest first, unsealed and sealed', async () => {
  const instance = await newInstance();
  // Both in one window, which begins at a multiple of 65,536 ms.
  const start = Math.floor((NOW - 3_600_000) / 65_536) * 65_536;
  const records = [
    recordAt(instance.id, start + 1000, 'b6ba', '/first'),
    recordAt(instance.id, start + 60_000, 'b6ba', '/second'),
    recordAt(instance.id, start + 30_000, 'b6bb', '/another-end'),
    recordAt(instance.id, start + 66_000, 'b6ba', '/a-window-later'),
  ];
  await sendVerdicts(instance.jwt, 'short', records);
  const short = shortReference(records[0]!.id)!;
  const find = async (reference: string): Promise<unknown> => {
    const { status, body } = await call(instance.token, '/protect/verdicts/find', { reference });
    expect(status, JSON.stringify(body)).toBe(200);
    const { verdicts, isComplete } = body as { verdicts: { request_path: string }[]; isComplete: boolean };
    return [verdicts.map(({ request_path: path }) => path), isComplete];
  };
  const both = [['/second', '/first'], true];
  expect(await find(short)).toEqual(both);
  expect(await find(` ${short.toUpperCase().replace('-', ' ')} `)).toEqual(both);
  expect(await find(records[3]!.id)).toEqual([['/a-window-later'], true]);
  const log = verdictLogOf({ id: instance.id });
  for (const name of shardNames(serviceEnv, log, everything)) await shard(serviceEnv, name).seal();
  expect(await find(short)).toEqual(both);
  expect(await find(records[3]!.id)).toEqual([['/a-window-later'], true]);
  expect(await find(`${short.slice(0, 5)}0000`)).toEqual([[], true]);
});

test('a search for a short reference ends once it has more verdicts than an answer holds', async () => {
  const first = await newInstance();
  const others: { id: string; jwt: string }[] = [];
  for (let made = 0; made < 7; made += 1) others.push(await anotherInstance(first.token));
  // One window, which begins at a multiple of 65,536 ms.
  const start = Math.floor((NOW - 7_200_000) / 65_536) * 65_536;
  const many = (instance: { id: string }, count: number, path: string) =>
    Array.from({ length: count }, (_, index) => recordAt(instance.id, start + index, 'cccc', path));
  const last = others.at(-1)!;
  await sendVerdicts(last.jwt, 'last', [recordAt(last.id, start + 60_000, 'cccc', '/last')]);
  await sendVerdicts(first.jwt, 'some', many(first, 20, '/first'));
  const reference = shortReference(many(first, 1, '/first')[0]!.id);
  const find = async (): Promise<unknown> => {
    const { body } = await call(first.token, '/protect/verdicts/find', { reference });
    return [body.verdicts.length, body.verdicts[0].request_path, body.isComplete];
  };
  // The newest verdict is in the last instance, and 20 in the first do not end the search.
  expect(await find()).toEqual([20, '/last', false]);
  await sendVerdicts(first.jwt, 'more', [recordAt(first.id, start + 50, 'cccc', '/first')]);
  expect(await find()).toEqual([20, '/first', false]);
});

test('a short reference of another account, and one older than the retention, find nothing', async () => {
  const [instance, other] = [await newInstance(), await newInstance()];
  const fresh = recordAt(instance.id, NOW - 5000, 'aaaa', '/fresh');
  const old = recordAt(instance.id, NOW - 6 * DAY_MS, 'aaaa', '/old');
  await sendVerdicts(instance.jwt, 'short', [fresh, old]);
  const find = async (token: string, id: string): Promise<number> => {
    const { body } = await call(token, '/protect/verdicts/find', { reference: shortReference(id) });
    return (body as { verdicts: unknown[] }).verdicts.length;
  };
  expect([await find(instance.token, fresh.id), await find(other.token, fresh.id)]).toEqual([1, 0]);
  expect(await find(instance.token, old.id)).toBe(1);
  await call(instance.token, '/protect/instances/update', { id: instance.id, retentionDays: 2 });
  expect(await find(instance.token, old.id)).toBe(0);
});

test('what is no reference is refused with the field and its form', async () => {
  const instance = await newInstance();
  for (const reference of ['', 'nonsense', '09a6-b6b', '09a6--b6ba', '09a6-b6ba-', 'x'.repeat(200)]) {
    const { status, body } = await call(instance.token, '/protect/verdicts/find', { reference });
    expect([status, body.error.details[0].path]).toEqual([400, 'reference']);
  }
});
