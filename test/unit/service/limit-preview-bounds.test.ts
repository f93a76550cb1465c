/** A preview of limits stops where it has kept as many keys as it has room for. */
import { expect, test } from 'vitest';
import { KeptRequests } from '../../../src/service/operations/protect/limits/limit-trial.ts';
import { policyParts, replayGate } from '../../../src/service/operations/protect/replay/gate-replay.ts';
import { edgeConfigOf } from '../edge/edge-fixture.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';

test('a preview keeps requests until their keys, those of larger networks too, fill its room', () => {
  const names = Array.from({ length: 100 }, (_, index) => `l${index}`);
  const limits = names.map((name) => ({
    name,
    key: ['ip'],
    count: 1,
    windowSeconds: 60,
    algorithm: 'sliding' as const,
    on: 'request',
    then: '429' as const,
    exact: false,
    mode: 'enforce' as const,
  }));
  const when = { field: 'path', operator: 'startsWith', value: '/' } as const;
  const policies = names.map((name) => ({
    name,
    when,
    then: { action: 'limit' as const, limit: name },
    mode: 'enforce' as const,
  }));
  const { policy, site } = edgeConfigOf();
  const noRules = { network: null, client: null, fired: [] };
  const gate = replayGate({ policy, site }, policyParts({ policies, limits }), null, () => noRules);
  const kept = new KeptRequests({ limits }, gate, 3000);
  let requests = 0;
  for (; !kept.isFull; requests += 1) {
    kept.note(verdictRecordOf('instance-1', { timestamp: requests, ip: `2001:db8:${requests.toString(16)}::1` }));
  }
  expect(requests).toBe(10);
  expect(kept.oldestFirst().map(({ atMs }) => atMs)).toEqual(Array.from({ length: 10 }, (_, at) => 9 - at));
});
