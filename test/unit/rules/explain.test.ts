import { describe, expect, test } from 'vitest';
import { RECORD_TEXT_MAX_CHARS } from '../../../src/contract/edge/record-bounds.ts';
import type { DecideInputs } from '../../../src/rules/decision-table.ts';
import { explainDecision } from '../../../src/rules/explain.ts';
import type { MatchedRule } from '../../../src/rules/types.ts';

const none: DecideInputs = {
  network: null,
  client: null,
  bot: null,
  category: null,
  risk: null,
  limit: null,
  policy: null,
};
const rule = (id: string, verdict: MatchedRule['verdict'], mode: MatchedRule['mode'] = 'enforce'): MatchedRule => ({
  id,
  type: id.split(':')[0] as MatchedRule['type'],
  verdict,
  mode,
});

function explain(inputs: DecideInputs, fired: MatchedRule[]): string {
  return explainDecision({ inputs, fired, rulesetVersion: 7 });
}

describe('an explanation', () => {
  test('names the deciding rule, the inputs it lifted, the other rules that fired, and the version', () => {
    const network = rule('ip:192.0.2.7', 'allow');
    const inputs: DecideInputs = {
      ...none,
      network,
      client: rule('userAgent:curl', 'block'),
      risk: { verdict: 'challenge', score: 0.625 },
    };
    expect(explain(inputs, [network, rule('ipMask:192.0.2.0/24', 'block'), rule('userAgent:curl', 'block')])).toBe(
      'Allowed by rule ip:192.0.2.7; lifted rule userAgent:curl (block), risk score 0.63 (challenge); ' +
        'also fired ipMask:192.0.2.0/24 (block); ruleset version 7.',
    );
  });

  test('names the inputs that were overruled but not lifted', () => {
    const network = rule('countryCode:DE', 'allow');
    expect(explain({ ...none, network, risk: { verdict: 'block', score: 0.9 } }, [network])).toBe(
      'Blocked by risk score 0.90; over rule countryCode:DE (allow); ruleset version 7.',
    );
  });

  test('names a list by its name', () => {
    const network = rule('list:bad-networks', 'block');
    expect(explain({ ...none, network }, [network])).toBe('Blocked by list bad-networks; ruleset version 7.');
  });

  test('states that a rule was only monitored', () => {
    expect(explain(none, [rule('asn:64496', 'block', 'monitor')])).toBe(
      'Allowed by default: nothing applies; also fired asn:64496 (monitored block); ruleset version 7.',
    );
  });

  test('fits into a verdict record, however many long rules fire', () => {
    const fired = Array.from({ length: 100 }, (_, i) => rule(`userAgent:${'😀'.repeat(140)}${i}`, 'block'));
    const text = explain({ ...none, client: fired[0] ?? null }, fired);
    expect(text.length).toBeLessThanOrEqual(RECORD_TEXT_MAX_CHARS);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toMatch(/and 91 more; ruleset version 7\.$/);
  });

  test('is whole up to the last character that fits, and then ends with an ellipsis', () => {
    const long = '😀'.repeat(140);
    const fired = Array.from({ length: 8 }, (_, i) => rule(`userAgent:${i}${long}`, 'block'));
    const texts = Array.from({ length: 160 }, (_, chars) => {
      const inputs: DecideInputs = {
        network: rule(`list:${'x'.repeat(chars)}`, 'block'),
        client: rule(`userAgent:${long}`, 'block'),
        bot: { verdict: 'block', id: long, proof: 'claimed' },
        category: null,
        risk: null,
        limit: null,
        policy: { verdict: 'block', reason: 'x'.repeat(Math.max(1, chars - 80)) },
      };
      return explain(inputs, fired);
    });
    const [whole, cut] = [texts.filter((text) => text.endsWith('.')), texts.filter((text) => text.endsWith('…'))];
    expect(whole.at(-1)).toHaveLength(RECORD_TEXT_MAX_CHARS);
    // No character is cut in half.
    expect(new Set(cut.map(({ length }) => RECORD_TEXT_MAX_CHARS - length))).toEqual(new Set([0, 1]));
    expect(texts.every((text) => text.isWellFormed())).toBe(true);
    expect(whole.length + cut.length).toBe(texts.length);
  });
});
