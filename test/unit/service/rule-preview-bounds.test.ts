/** A preview of rules stops where it has noted as many rules of requests as it has room for. */
import { expect, test } from 'vitest';
import { PreviewEffects } from '../../../src/service/operations/protect/replay/rules-trial.ts';
import { ChangeSums } from '../../../src/service/operations/protect/replay/previewed-changes.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';

test('a preview notes rules of requests until its room is full, and counts each visitor once', () => {
  const effects = new PreviewEffects(1000);
  const ids = new Set(Array.from({ length: 100 }, (_, index) => `userAgent:bot${index}`));
  const outcome = { from: 'allow', to: 'block', decidedBy: 'userAgent:bot0' } as const;
  let requests = 0;
  for (; !effects.isFull; requests += 1) {
    const record = verdictRecordOf('instance-1', { timestamp: requests, ip: `192.0.2.${requests % 3}` });
    effects.note(ids, record, outcome);
  }
  expect(requests).toBe(10);
  const { rulesTouched, effects: rules } = effects.result(new Map(), new Map());
  expect(rulesTouched).toBe(100);
  expect(rules[0]).toMatchObject({ requests: 10, visitors: 3 });
});

test('a preview tries only so many answers for what the log does not keep', () => {
  const branch = { applying: new Set<string>(), outcome: 'allow', decidedBy: 'default', source: 'default' } as const;
  const request = (branches: number) => ({
    branches: Array.from({ length: branches }, () => ({ ...branch, reachesLimits: true })) as never,
    fired: [],
    unsure: [],
    limits: [],
    liftsLimits: false,
  });
  const changes = new ChangeSums(60);
  for (let plain = 0; plain < 1000; plain += 1) changes.tried(request(1), request(1));
  expect(changes.isFull).toBe(false);
  changes.tried(request(16), request(16));
  expect(changes.isFull).toBe(false);
  changes.tried(request(16), request(16));
  expect(changes.isFull).toBe(true);
});
