/** Difficult cases of user agent rules. General ones are in `test/property/rules`. */
import { describe, expect, test } from 'vitest';
import { canonicalValue } from '../../../src/rules/canonical.ts';
import type { Decision } from '../../../src/contract/vocabulary.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import type { Ruleset } from '../../../src/rules/ruleset.ts';
import { HEAD_CHARS } from '../../../src/rules/head-memory.ts';
import { foldCase } from '../../../src/rules/user-agent-fold.ts';
import { firedIds, match, rulesetOf } from './rulesets.ts';

function rule(text: string, verdict: Decision = 'block'): EdgeRule {
  const canonical = canonicalValue('userAgent', text);
  if (!canonical.ok) throw new Error(canonical.error);
  return { type: 'userAgent', value: canonical.value, verdict };
}

const rulesFor = (...texts: string[]): Ruleset => rulesetOf(texts.map((text) => rule(text)));
const found = (ruleset: Ruleset, userAgent: string): string[] =>
  firedIds(ruleset, { userAgent }).map((id) => id.slice('userAgent:'.length));

describe('a user agent rule', () => {
  test('matches anywhere in the header, in upper or lower case', () => {
    const ruleset = rulesFor('GoogleBot');
    for (const header of ['googlebot', 'GOOGLEBOT/2.1', 'Mozilla/5.0 (compatible; Googlebot', 'xgooglebotx']) {
      expect(found(ruleset, header)).toEqual(['googlebot']);
    }
    for (const header of ['', 'googlebo', 'google bot', 'oglebot']) expect(found(ruleset, header)).toEqual([]);
  });

  test('never matches an empty header', () => {
    expect(found(rulesFor('a', 'ab', 'abc', 'abcd'), '')).toEqual([]);
  });

  test('with one, two or three bytes matches like any other', () => {
    const ruleset = rulesFor('x', 'yz', 'bot', 'é', '/');
    expect(found(ruleset, 'BOT')).toEqual(['bot']);
    expect(found(ruleset, 'yxzy')).toEqual(['x']);
    expect(found(ruleset, 'a YZ/É')).toEqual(['/', 'yz', 'é']);
    expect(found(ruleset, 'bo')).toEqual([]);
  });

  test('is found when other rules overlap, contain or continue it', () => {
    const ruleset = rulesFor('she said', 'he said', 'hers', 'said hers', 'id h', 'she', 'd her');
    expect(found(ruleset, 'SHE SAID HERS')).toEqual([
      'd her',
      'he said',
      'hers',
      'id h',
      'said hers',
      'she',
      'she said',
    ]);
    expect(found(ruleset, 'he sai')).toEqual([]);
    expect(found(ruleset, 'xhe saidx')).toEqual(['he said']);
  });

  test('is found after a near miss of itself', () => {
    const ruleset = rulesFor('aaaab', 'abababc', 'mozilla/5.0 (compatible; evil');
    expect(found(ruleset, 'aaaaaaaaaab')).toEqual(['aaaab']);
    expect(found(ruleset, 'ababababababc')).toEqual(['abababc']);
    expect(found(ruleset, 'mozilla/5.0 (mozilla/5.0 (compatible; evil')).toEqual(['mozilla/5.0 (compatible; evil']);
  });

  test('is found at the start of a header, whatever the hash of its first characters', () => {
    // Names with a thousand different beginnings: about 3 % of them pass the bitmap of the rules.
    const names = Array.from({ length: 1000 }, (_, n) => `${Math.imul(n + 1, 0x9e3779b1) >>> 0}`);
    const ruleset = rulesFor(...names);
    for (const before of ['', 'a', 'ab', 'abc', 'abcd']) {
      const missed = names.filter((name) => !found(ruleset, before + name).includes(name));
      expect(missed, `after "${before}"`).toEqual([]);
    }
    expect(found(rulesFor('\u03c2/1a', 'mozilla/5.0'), 'aMozilla/5.0')).toEqual(['mozilla/5.0']);
  });

  test('is found where it reaches over the end of a beginning that is remembered', () => {
    const name = 'continued';
    // The other rule parts from it at the last byte only.
    const ruleset = rulesFor(name, 'continues');
    for (let inside = 0; inside <= name.length; inside++) {
      const start = '.'.repeat(HEAD_CHARS - inside);
      // A beginning is remembered once it has arrived again.
      for (let time = 0; time < 4; time++) {
        expect(found(ruleset, `${start}${name} ${time}`), `${inside} inside`).toEqual([name]);
        expect(found(ruleset, `${start}${name.slice(0, -1)}- ${time}`)).toEqual([]);
      }
    }
  });

  test('fires once, however often it occurs', () => {
    expect(found(rulesFor('spam', 'am', 'a'), 'spam spam spam a am')).toEqual(['a', 'am', 'spam']);
  });

  test('matches characters beyond ASCII, in either case, together with ASCII rules', () => {
    const ruleset = rulesFor('ЯНДЕКС', 'σίσυφος', 'curl', '爬虫', '🤖bot', 'über', 'K1');
    expect(found(ruleset, 'curl Яндекс/1')).toEqual(['curl', 'яндекс']);
    expect(found(ruleset, 'x爬虫🤖BOT')).toEqual(['爬虫', '🤖bot']);
    expect(found(ruleset, 'ÜBER')).toEqual(['über']);
    // The Kelvin sign is the letter K.
    expect(found(ruleset, '\u212A1')).toEqual(['k1']);
    expect(found(ruleset, '\ud83e curl \ud800')).toEqual(['curl']);
  });

  test('matches letters that have two lower-case forms: final sigma, long s and the micro sign', () => {
    const ruleset = rulesFor('ΟΔΟΣ', 'muſic', '\u00b5torrent');
    for (const header of ['οδος', 'ΟΔΟΣ', 'οδοσ']) expect(found(ruleset, header)).toEqual(['οδοσ']);
    for (const header of ['music', 'MUSIC', 'muſic']) expect(found(ruleset, header)).toEqual(['music']);
    for (const micro of ['\u00b5', '\u03bc', '\u039c']) {
      expect(found(ruleset, `${micro}Torrent`)).toEqual(['\u03bctorrent']);
    }
  });

  test('folds every character as regular expressions do that ignore case', () => {
    const pairs: string[] = [];
    for (let point = 0; point < 0x11_0000; point++) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const char = String.fromCodePoint(point);
      const folded = foldCase(char);
      // U+0130 folds to two characters, as `toLowerCase` has it.
      if (folded !== char && point !== 0x130) pairs.push(char, folded);
    }
    expect(pairs.length).toBeGreaterThan(2000);
    for (let i = 0; i < pairs.length; i += 2) {
      const ignoringCase = new RegExp(`^\\u{${pairs[i]!.codePointAt(0)!.toString(16)}}$`, 'iu');
      if (!ignoringCase.test(pairs[i + 1]!)) expect.fail(`${pairs[i]} became ${pairs[i + 1]}`);
    }
  });

  test('does not confuse a Latin-1 character with a byte of a UTF-8 character', () => {
    // U+93BF is E9 8E BF in UTF-8.
    const ruleset = rulesFor('abcd\u93bf', 'abc\u93bfxyzzy');
    for (const header of ['abcd\u00e9\u008e\u00bf', 'abc\u00e9\u008e\u00bfxyzzy'])
      expect(found(ruleset, header)).toEqual([]);
    expect(found(ruleset, 'abcd\u93bf abc\u93bfxyzzy')).toEqual(['abcd\u93bf', 'abc\u93bfxyzzy']);
  });

  test('is found at the end of a header of 14 KiB', () => {
    const ruleset = rulesFor('needle', 'aaaaaaab', 'é-needle');
    expect(found(ruleset, 'a'.repeat(14 * 1024 - 6) + 'NEEDLE')).toEqual(['needle']);
    expect(found(ruleset, 'é'.repeat(14 * 1024) + '-needle')).toEqual(['needle', 'é-needle']);
  });

  test('takes linear time for a header made to be slow', () => {
    const texts = Array.from({ length: 290 }, (_, n) => 'a'.repeat(n + 4));
    const ruleset = rulesFor(...texts, `${'a'.repeat(299)}b`, `${'ab'.repeat(149)}c`);
    const header = 'a'.repeat(7 * 1024) + 'ab'.repeat(4 * 1024);
    // 200 ms on an idle machine. A search for every pattern at every place exceeds the test's time limit.
    for (let i = 0; i < 100; i++) expect(match(ruleset, { userAgent: header }).fired).toHaveLength(291);
  });

  test('leaves the decision to the strictest rule that matches', () => {
    const ruleset = rulesetOf([rule('bot', 'allow'), rule('googlebot', 'challenge'), rule('google', 'block')]);
    expect(match(ruleset, { userAgent: 'googlebot' }).client?.id).toBe('userAgent:google');
    expect(match(ruleset, { userAgent: 'bot' }).client?.verdict).toBe('allow');
  });
});
