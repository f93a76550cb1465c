import { expect, test } from 'vitest';
import type { DecideInputs } from '../../../src/rules/decision-table.ts';
import { tableRows } from '../../../src/rules/explain.ts';

test('a row says what its input said, by what, and what became of it', () => {
  const inputs: DecideInputs = {
    network: { id: 'asn:64496', type: 'asn', verdict: 'allow', mode: 'enforce' },
    client: { id: 'userAgent:curl', type: 'userAgent', verdict: 'challenge', mode: 'enforce' },
    bot: { verdict: 'block', id: 'gptbot', proof: 'claimed' },
    category: null,
    risk: { verdict: 'block', score: 0.9 },
    limit: null,
    policy: null,
  };
  const silent = { verdict: null, by: null, outcome: 'silent', liftedBy: null };
  expect(tableRows(inputs)).toEqual([
    { input: 'network', verdict: 'allow', by: 'asn:64496', outcome: 'overruled', liftedBy: null },
    { input: 'client', verdict: 'challenge', by: 'userAgent:curl', outcome: 'overruled', liftedBy: null },
    { input: 'bot', verdict: 'block', by: 'bot:gptbot', outcome: 'decided', liftedBy: null },
    { input: 'category', ...silent },
    { input: 'risk', verdict: 'block', by: 'risk:block', outcome: 'lifted', liftedBy: 'network' },
    { input: 'limit', ...silent },
    { input: 'policy', ...silent },
  ]);
});
