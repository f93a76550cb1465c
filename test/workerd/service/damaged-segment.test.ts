/** A query over a sealed file that is cut off or gone: it says which file, and a rebuild goes on without it. */
import { expect, test } from 'vitest';
import { shard } from '../../../src/store/event-log/client/shards.ts';
import { ownerFolder } from '../../../src/store/event-log/segment-key.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';
import { call, newAccount, serviceEnv } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';

async function sealedFile(cname: string) {
  const { token, site } = await newAccount();
  const created = await call(token, '/protect/instances/create', { name: 'Gate', cname, globalSiteKey: site.siteKey });
  const instanceId = created.body.id as string;
  const issued = await call(token, '/protect/client-jwt/generate', {
    protectInstanceId: instanceId,
    expiresInWeeks: 1,
  });
  const records = Array.from({ length: 20 }, (_, seq) =>
    verdictRecordOf(instanceId, { timestamp: testNow() - 60_000 + seq }),
  );
  await call(issued.body.clientJwt as string, '/edge/v1/verdicts', { records });
  const name = `verdicts/${instanceId}:0:0`;
  await shard(serviceEnv, name).seal();
  const { objects } = await serviceEnv.SEGMENTS.list({ prefix: ownerFolder(name) });
  return { token, name, key: objects[0]?.key as string };
}

test.each([
  ['cut off within its rows', 200],
  ['cut off before them', 2],
  ['missing', null],
])('a query over a file that is %s names the file, and a rebuild goes on without it', async (_, length) => {
  const { token, key } = await sealedFile(`damaged-${length}.example.org`);
  const bytes = await (await serviceEnv.SEGMENTS.get(key))?.bytes();
  if (length === null) await serviceEnv.SEGMENTS.delete(key);
  else await serviceEnv.SEGMENTS.put(key, (bytes as Uint8Array).slice(0, length));
  const refused = await call(token, '/protect/verdicts', {});
  expect([refused.status, refused.body.error.key]).toEqual([500, 'API.UNKNOWN']);
  expect(refused.body.error.message).toContain(key);
  const rebuilt = await call(token, '/protect/log/rebuild', {});
  const skipped = length === null ? [] : [{ object: key, reason: 'It is cut off, or no Parquet file' }];
  expect(rebuilt.body).toEqual({ segments: 0, rows: 0, skipped, segmentsLeft: 0, nextCursor: null });
  const page = await call(token, '/protect/verdicts', {});
  expect([page.status, page.body.total]).toEqual([200, 0]);
});

test('a rebuild reads the stream that it is asked for', async () => {
  const { token } = await sealedFile('streams.example.org');
  const rows = async (stream: string) => (await call(token, '/protect/log/rebuild', { stream })).body.rows as number;
  expect([await rows('verdicts'), await rows('captchas'), await rows('telemetry')]).toEqual([20, 0, 0]);
  expect((await call(token, '/protect/log/rebuild', { stream: 'others' })).status).toBe(400);
});

test('a rebuild refuses a cursor of another log', async () => {
  const { token, key } = await sealedFile('cursor-one.example.org');
  const other = await sealedFile('cursor-two.example.org');
  expect((await call(token, '/protect/log/rebuild', { cursor: other.key })).status).toBe(400);
  expect((await call(token, '/protect/log/rebuild', { cursor: key })).status).toBe(200);
});
