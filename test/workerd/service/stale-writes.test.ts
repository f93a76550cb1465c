/** Two people who edit the same thing: with `ifVersion`, the second one is told, and nothing is overwritten. */
import { expect, test } from 'vitest';
import { newInstance } from '../rule-book-instance.ts';
import { call, newAccount } from './service-under-test.ts';

test('a site that changed since it was read is not overwritten', async () => {
  const { token, site } = await newAccount();
  const update = (body: object) => call(token, '/sites/update', { siteKey: site.siteKey, ...body });
  const read = async () => (await call(token, '/site/get', { siteKey: site.siteKey })).body;
  const { version } = await read();
  const first = await update({ ifVersion: version, settings: { powDifficulty: 5 } });
  expect(first.status).toBe(200);
  expect(first.body.version).toBeGreaterThan(version);
  const second = await update({ ifVersion: version, settings: { powDifficulty: 6 } });
  expect([second.status, second.body.error]).toEqual([
    409,
    {
      code: 409,
      key: 'API.CONFLICT',
      message: expect.stringContaining('was changed'),
      details: [{ path: 'ifVersion', message: `is ${version}, and the current version is ${first.body.version}` }],
    },
  ]);
  expect((await read()).settings.powDifficulty).toBe(5);
  expect((await update({ ifVersion: first.body.version, settings: { powDifficulty: 6 } })).status).toBe(200);
  expect((await update({ settings: { powDifficulty: 7 } })).body.settings.powDifficulty).toBe(7);
});

test('an instance that changed since it was read is not overwritten', async () => {
  const { token, id } = await newInstance();
  const update = (body: object) => call(token, '/protect/instances/update', { id, ...body });
  const read = async () => (await call(token, '/protect/instances', {})).body.find((one: any) => one.id === id);
  const { version } = await read();
  const outcomes = await Promise.all([11, 12, 13].map((rollout) => update({ ifVersion: version, rollout })));
  expect(outcomes.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  const won = outcomes.find(({ status }) => status === 200)?.body;
  const lost = outcomes.find(({ status }) => status === 409)?.body;
  expect(lost.error.details).toEqual([
    { path: 'ifVersion', message: `is ${version}, and the current version is ${won.version}` },
  ]);
  expect(await read()).toMatchObject({ rollout: won.rollout, version: won.version });
});

test('rules that changed since they were read are not overwritten, deleted or rolled back', async () => {
  const { rules } = await newInstance();
  const rule = { type: 'asn', value: '64500', verdict: 'block' };
  const { version } = (await rules('', { limit: 1 })).body;
  expect((await rules('/create', { rules: [rule], ifVersion: version })).body.version).toBe(version + 1);
  const stale = { ifVersion: version };
  const refused = await Promise.all([
    rules('/create', { rules: [{ ...rule, verdict: 'allow' }], ...stale }),
    rules('/delete', { conditions: [{ type: 'asn', value: '64500' }], ...stale }),
    rules('/import', { content: 'AS64501', verdict: 'block', ...stale }),
    rules('/rollback', { version, ...stale }),
  ]);
  for (const { status, body } of refused) {
    expect([status, body.error.key, body.error.details]).toEqual([
      409,
      'API.CONFLICT',
      [{ path: 'ifVersion', message: `is ${version}, and the current version is ${version + 1}` }],
    ]);
  }
  expect((await rules('', { limit: 9 })).body).toMatchObject({ version: version + 1, rules: [rule] });
  expect((await rules('/rollback', { version, ifVersion: version + 1 })).body).toMatchObject({ deleted: 1 });
});
