import { beforeAll, describe, expect, test } from 'vitest';
import { openSignedRuleset, rulesetHash, signRulesetFile } from '../../../src/rules/signing.ts';
import { compile } from './rulesets.ts';

let pair: CryptoKeyPair;
let other: CryptoKeyPair;
const payload = compile([{ type: 'ip', value: '192.0.2.7', verdict: 'block' }]);

beforeAll(async () => {
  pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  other = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
});

describe('a signed ruleset file', () => {
  test('opens to its payload, without a copy, with the key that signed it', async () => {
    const { file, hash } = await signRulesetFile(payload, { kid: 'ключ-1', privateKey: pair.privateKey });
    const opened = await openSignedRuleset(file, new Map([['ключ-1', pair.publicKey]]));
    expect(opened).toEqual({ ok: true, value: { payload, hash } });
    expect(opened.ok && opened.value.payload.buffer === file.buffer).toBe(true);
    expect(hash).toBe(await rulesetHash(payload));
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test('is refused with an unknown key, another key and no key', async () => {
    const { file } = await signRulesetFile(payload, { kid: 'a', privateKey: pair.privateKey });
    for (const keys of [
      new Map(),
      new Map([['b', pair.publicKey]]),
      new Map([['a', other.publicKey]]),
      new Map([['a', pair.privateKey]]),
    ]) {
      expect((await openSignedRuleset(file, keys)).ok).toBe(false);
    }
  });

  test('is refused with any byte changed and when it is cut off', async () => {
    const { file } = await signRulesetFile(payload, { kid: 'a', privateKey: pair.privateKey });
    const keys = new Map([['a', pair.publicKey]]);
    const trailer = file.length - payload.length;
    const places = new Set([
      0,
      1,
      100,
      payload.length - 1,
      ...Array.from({ length: trailer }, (_, i) => payload.length + i),
    ]);
    for (const place of places) {
      const flipped = file.slice();
      flipped[place] = (flipped[place] ?? 0) ^ 1;
      expect((await openSignedRuleset(flipped, keys)).ok, `byte ${place}`).toBe(false);
    }
    for (let length = 0; length < file.length; length += 37) {
      expect((await openSignedRuleset(file.subarray(0, length), keys)).ok, `length ${length}`).toBe(false);
    }
  });

  test('cannot be signed with a kid that does not fit into its trailer', async () => {
    for (const kid of ['', 'x'.repeat(129)]) {
      await expect(signRulesetFile(payload, { kid, privateKey: pair.privateKey })).rejects.toThrow(RangeError);
    }
  });
});
