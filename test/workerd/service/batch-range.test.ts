/** What a batch says of its range: the isolate that numbered its records, and their first and last number. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../../src/contract/edge/verdict-record.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';
import { call, newAccount } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';

let instanceId = '';
let jwt = '';

beforeAll(async () => {
  const account = await newAccount();
  const created = await call(account.token, '/protect/instances/create', {
    name: 'Gate',
    cname: 'ranges.example.org',
    globalSiteKey: account.site.siteKey,
  });
  instanceId = created.body.id as string;
  const issued = await call(account.token, '/protect/client-jwt/generate', {
    protectInstanceId: instanceId,
    expiresInWeeks: 1,
  });
  jwt = issued.body.clientJwt as string;
});

const range = { isolate: 'isolate-a', firstSeq: 3, lastSeq: 6, held: 0 };

function recordAt(isolate: string, seq: number): VerdictRecord {
  const edge = { colo: 'FRA', version: '0.1.0', isolate, seq };
  return verdictRecordOf(instanceId, { timestamp: testNow(), edge });
}

describe('a batch', () => {
  test('with a range that cannot be is refused as a whole', () =>
    expectRows(
      [
        ['that ends before it begins', { ...range, firstSeq: 7 }],
        ['without its first number', { ...range, firstSeq: undefined }],
        ['without its isolate', { ...range, isolate: undefined }],
        ['without what is held', { ...range, held: undefined }],
        ['with a number below zero', { ...range, firstSeq: -1 }],
        ['with a number that is not whole', { ...range, lastSeq: 6.5 }],
        ['with a number too large to count from', { ...range, lastSeq: 2 ** 53 }],
        ['with an isolate of too many characters', { ...range, isolate: 'i'.repeat(129) }],
        ['that holds less than nothing', { ...range, held: -1 }],
      ],
      async ([, given]) => {
        const answer = await call(jwt, '/edge/v1/verdicts', { ...given, records: [recordAt('isolate-a', 3)] });
        expect([answer.status, answer.body]).toMatchObject([400, { error: { key: expect.any(String) } }]);
      },
    ));

  test('of one isolate loses the records of another, and those outside its range, alone', async () => {
    const records = [
      recordAt('isolate-a', 3),
      recordAt('isolate-a', 7),
      recordAt('isolate-b', 4),
      recordAt('isolate-a', 6),
    ];
    const answer = await call(jwt, '/edge/v1/verdicts', { ...range, records });
    expect(answer.body).toEqual({
      accepted: 2,
      duplicates: 0,
      rejected: [
        { index: 1, reason: 'outside-batch' },
        { index: 2, reason: 'outside-batch' },
      ],
    });
  });

  test('may have gaps', async () => {
    const records = [100, 104, 109].map((seq) => recordAt('isolate-c', seq));
    const given = { isolate: 'isolate-c', firstSeq: 100, lastSeq: 120, held: 4, records };
    expect((await call(jwt, '/edge/v1/verdicts', given)).body).toMatchObject({ accepted: 3, rejected: [] });
  });

  test('of a sender that names no range is judged by its records', async () => {
    const records = [recordAt('isolate-d', 1), recordAt('isolate-e', 1)];
    expect((await call(jwt, '/edge/v1/verdicts', { records })).body).toMatchObject({ accepted: 2, rejected: [] });
  });
});
