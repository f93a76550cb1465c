import { describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../../src/contract/edge/verdict-record.ts';
import { RulesetCompiler } from '../../../src/rules/compiler.ts';
import { createRuleset } from '../../../src/rules/ruleset.ts';
import { openSnapshot } from '../../../src/rules/snapshot.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { whatIf } from '../../../src/service/operations/protect/access-rules/what-if.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';

const base: Partial<VerdictRecord> = {
  ip: '192.0.2.7',
  asn: 64496,
  country: 'NL',
  user_agent: 'Mozilla/5.0',
  ip_category: [],
  fired_rules: [],
  risk_score: null,
  decision: 'allow',
  source: 'default',
};

function decided(record: Partial<VerdictRecord>, ...rules: EdgeRule[]): string {
  const compiler = new RulesetCompiler({ instanceId: 'i', version: 0, createdAtMs: 0 });
  for (const rule of rules) compiler.add(rule);
  const opened = openSnapshot(compiler.finish());
  if (!opened.ok) throw new Error(opened.error);
  const ids = new Set(rules.map((rule) => `${rule.type}:${rule.value}`));
  const told = whatIf(verdictRecordOf('instance-1', { timestamp: Date.UTC(2026, 10, 20), ...base, ...record }), {
    ruleset: createRuleset(opened.value, null),
    ids,
  });
  return told === null ? 'nobody can tell' : `${told.before} → ${told.after}`;
}

const blockNetwork: EdgeRule = { type: 'ipMask', value: '192.0.2.0/24', verdict: 'block' };
const fired = (id: string, verdict: 'allow' | 'challenge' | 'block', mode: 'enforce' | 'monitor' = 'enforce') => ({
  id,
  verdict,
  mode,
});

describe('an entry of a list that fired', () => {
  const fired_rules = [
    fired('ipMask:192.0.2.0/25', 'allow', 'monitor'),
    fired('list:bad-networks', 'block'),
    fired('ipMask:192.0.0.0/16', 'challenge'),
  ];
  const blocked: Partial<VerdictRecord> = { fired_rules, decision: 'block', source: 'access-rule' };

  test('is as specific as its place in the record', () => {
    expect(decided(blocked, { type: 'ipMask', value: '192.0.2.0/26', verdict: 'allow' })).toBe('block → allow');
    expect(decided(blocked, { type: 'ipMask', value: '192.0.0.0/15', verdict: 'allow' })).toBe('block → block');
  });
});

describe('a proposed rule', () => {
  test('changes a request that it matches and no other', () => {
    expect(decided({}, blockNetwork)).toBe('allow → block');
    expect(decided({ ip: '198.51.100.1' }, blockNetwork)).toBe('allow → allow');
  });

  test('has no effect under a more specific rule that fired', () => {
    expect(decided({ fired_rules: [fired('ip:192.0.2.7', 'allow')] }, blockNetwork)).toBe('allow → allow');
    expect(decided({ fired_rules: [fired('asn:64496', 'allow')] }, blockNetwork)).toBe('allow → block');
  });

  test('replaces an existing rule of the same type and value', () => {
    const record = { fired_rules: [fired('ipMask:192.0.2.0/24', 'block' as const)], decision: 'block' as const };
    expect(decided(record, { ...blockNetwork, verdict: 'challenge' })).toBe('block → challenge');
    expect(decided(record, { ...blockNetwork, mode: 'monitor' })).toBe('block → allow');
  });

  test('that allows lifts what the decision table lifts, and no more', () => {
    const allowAgent: EdgeRule = { type: 'userAgent', value: 'mozilla', verdict: 'allow' };
    expect(decided({ risk_score: 0.9, decision: 'block', source: 'risk' }, allowAgent)).toBe('block → block');
    expect(decided({ decision: 'challenge', source: 'policy' }, allowAgent)).toBe('challenge → allow');
    const allowAsn: EdgeRule = { type: 'asn', value: '64496', verdict: 'allow' };
    expect(decided({ ip_category: ['tor'], decision: 'block', source: 'ip-category' }, allowAsn)).toBe('block → allow');
  });

  test('meets an entry of a list of the kind that the record says', () => {
    const blocked = { fired_rules: [fired('list:operators', 'allow')], risk_score: 0.9, decision: 'allow' as const };
    const inputs = (type: 'asn' | 'countryCode'): Partial<VerdictRecord> => ({
      ...blocked,
      inputs: { network: { verdict: 'allow', id: 'list:operators', type }, risk: { verdict: 'block' } },
    });
    const elsewhere: EdgeRule = { type: 'userAgent', value: 'mozilla', verdict: 'challenge', mode: 'monitor' };
    expect(decided(inputs('asn'), elsewhere)).toBe('allow → allow');
    expect(decided(inputs('countryCode'), elsewhere)).toBe('block → block');
  });

  test('in monitor mode changes nothing', () => {
    expect(decided({}, { ...blockNetwork, mode: 'monitor' })).toBe('allow → allow');
  });

  test('that challenges does not stop a visitor with clearance', () => {
    expect(decided({ source: 'clearance' }, { ...blockNetwork, verdict: 'challenge' })).toBe('allow → allow');
  });
});
