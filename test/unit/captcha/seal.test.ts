/**
 * What must not open a seal, after attacks that are known from other products: splicing (CVE-2025-68113), confusion of
 * purposes and keys, downgraded parameters (CVE-2025-24369), other encodings of the same bytes.
 */
import { describe, expect, test } from 'vitest';
import { decodeBase64url, encodeBase64url } from '../../../src/bytes/base64url.ts';
import { encodeFields, textField } from '../../../src/captcha/seal/field-encoding.ts';
import { seal, SEALED_MAX_CHARS, unseal } from '../../../src/captcha/seal/seal.ts';
import { openChallenge, sealChallenge, type SealedChallenge } from '../../../src/captcha/seal/sealed-challenge.ts';
import { COURSE_FIELDS } from '../../../src/captcha/seal/sealed-course.ts';
import { openToken, sealToken } from '../../../src/captcha/seal/sealed-token.ts';
import { challenge, DAY_MS, keyringOf, NOON, token } from './sealing-fixtures.ts';
import { expectRows } from '../../support/rows.ts';

const keyring = keyringOf('ours');
const CHALLENGE_FIELDS = COURSE_FIELDS + 5;
const TOKEN_FIELDS = COURSE_FIELDS + 4;

describe('a seal', () => {
  const fields = [textField('one'), textField(''), textField('three')];

  test('returns its fields, on the same day and on the next', async () => {
    const text = await seal(keyring, 'token', fields, NOON);
    for (const now of [NOON, NOON + DAY_MS]) {
      expect(await unseal(keyring, 'token', text, 3, now)).toEqual(fields);
    }
  });

  test('is never the same twice', async () => {
    const texts = await Promise.all(Array.from({ length: 50 }, () => seal(keyring, 'token', fields, NOON)));
    expect(new Set(texts).size).toBe(50);
  });

  test('opens for no other key, day, purpose or number of fields', async () => {
    const text = await seal(keyring, 'token', fields, NOON);
    expect(await unseal(keyringOf('theirs'), 'token', text, 3, NOON)).toBeNull();
    expect(await unseal(keyring, 'token', text, 3, NOON + 2 * DAY_MS)).toBeNull();
    expect(await unseal(keyring, 'token', text, 3, NOON - DAY_MS)).toBeNull();
    expect(await unseal(keyring, 'challenge', text, 3, NOON)).toBeNull();
    expect(await unseal(keyring, 'token', text, 2, NOON)).toBeNull();
    expect(await unseal(keyring, 'token', text, 4, NOON)).toBeNull();
  });

  test('does not open after any single bit has changed', async () => {
    const bytes = decodeBase64url(await seal(keyring, 'token', fields, NOON))!;
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = bytes.slice();
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(await unseal(keyring, 'token', encodeBase64url(changed), 3, NOON)).toBeNull();
    }
  });

  test('does not open truncated or extended', async () => {
    const text = await seal(keyring, 'token', fields, NOON);
    for (let length = 0; length < text.length; length++) {
      expect(await unseal(keyring, 'token', text.slice(0, length), 3, NOON)).toBeNull();
    }
    for (const tail of ['A', 'AA', 'AAAA', '=', '.', ' ', '\n', text]) {
      expect(await unseal(keyring, 'token', text + tail, 3, NOON)).toBeNull();
    }
  });

  test('cannot be assembled from two others', async () => {
    const [a, b] = await Promise.all([seal(keyring, 'token', fields, NOON), seal(keyring, 'token', fields, NOON)]);
    // From the nonce on, because the headers before it are the same.
    for (let cut = 12; cut < a.length; cut += 4) {
      if (a.slice(cut) === b.slice(cut)) continue;
      expect(await unseal(keyring, 'token', a.slice(0, cut) + b.slice(cut), 3, NOON)).toBeNull();
    }
  });

  test('is no text of another form', () =>
    expectRows(
      [
        ['standard alphabet', '+/+/'.repeat(20)],
        ['padding', `${'A'.repeat(78)}==`],
        ['a JWT without algorithm', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.'],
        ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.AAAA'],
        ['a hexadecimal token', `0x${'00'.repeat(100)}`],
        ['128 KiB', 'A'.repeat(131_072)],
        ['more than the longest seal', 'A'.repeat(SEALED_MAX_CHARS + 4)],
        ['full-width letters', 'ＡＡＡＡ'.repeat(20)],
        ['zero bytes', '\u0000'.repeat(80)],
      ],
      async ([, text]) => {
        expect(await unseal(keyring, 'token', text, 3, NOON)).toBeNull();
      },
    ));
});

describe('the canonical structure', () => {
  test('changes when a byte moves from any field to the next', () => {
    const parts = ['site', 'example.com', 'login', 'order-7', 'pow'];
    const whole = encodeBase64url(encodeFields(parts.map(textField)));
    for (let index = 0; index + 1 < parts.length; index++) {
      const [one = '', other = ''] = parts.slice(index, index + 2);
      const moved = parts.with(index, one + other.slice(0, 1)).with(index + 1, other.slice(1));
      expect(moved.join('')).toBe(parts.join(''));
      expect(encodeBase64url(encodeFields(moved.map(textField)))).not.toBe(whole);
    }
  });
});

describe('a sealed challenge', () => {
  const answer = new Uint8Array(256).fill(7);
  /** The fields of a sealed challenge, the tag of its answer last. */
  const fieldsOf = async (given: SealedChallenge): Promise<readonly Uint8Array<ArrayBuffer>[]> => {
    const text = await sealChallenge(keyring, given, answer);
    return (await unseal(keyring, 'challenge', text, CHALLENGE_FIELDS, NOON))!;
  };

  test('returns all of its fields and recognises its answer', async () => {
    const opened = await openChallenge(keyring, await sealChallenge(keyring, challenge, answer), NOON + 1000);
    expect(opened?.challenge).toEqual(challenge);
    expect(await opened?.answeredBy(answer)).toBe(true);
  });

  test('does not accept a wrong answer', () =>
    expectRows(
      [
        ['one bit off', answer.with(255, 6)],
        ['shorter', answer.subarray(1)],
        ['with a leading zero', new Uint8Array([0, ...answer])],
        ['with a trailing zero', new Uint8Array([...answer, 0])],
        ['empty', new Uint8Array(0)],
        ['zero', new Uint8Array(256)],
      ],
      async ([, wrong]) => {
        const opened = await openChallenge(keyring, await sealChallenge(keyring, challenge, answer), NOON);
        expect(await opened?.answeredBy(wrong)).toBe(false);
      },
    ));

  test('that was sealed without an answer accepts none', async () => {
    const opened = await openChallenge(keyring, await sealChallenge(keyring, challenge, null), NOON);
    expect(await opened?.answeredBy(new Uint8Array(0))).toBe(false);
  });

  test('has an answer tag that is valid for its own fields only', () =>
    expectRows(
      [
        ['jti', { jti: 'ffeeddccbbaa99887766554433221100' }],
        ['birth', { bornAt: NOON - 1 }],
        ['site', { siteKey: 'other' }],
        ['host name', { hostname: 'example.org' }],
        ['action', { action: '' }],
        ['customer data', { cdata: '' }],
        ['kind', { kind: 'image' }],
        ['lane', { lane: 'sha256' }],
        ['issue', { issuedAt: NOON - 1 }],
        ['squarings', { params: { t: 1 } }],
        ['expiry', { expiresAt: NOON + 61_000 }],
        ['round', { round: 1 }],
        ['difficulty', { powDifficulty: 1 }],
        ['instance', { edge: { ...challenge.edge!, instanceId: 'inst_2' } }],
        ['visitor', { edge: null }],
        ['score', { facts: { ...challenge.facts, score: 0 } }],
        ['network', { facts: { ...challenge.facts, prefix: null } }],
        ['refusal', { facts: { ...challenge.facts, refusal: 'API.TOR_BLOCKED' } }],
      ] satisfies [string, Partial<SealedChallenge>][],
      async ([, change]) => {
        // An attacker with the sealing key but without the tagging key still cannot move a tag to another challenge.
        const original = await fieldsOf(challenge);
        const other = await fieldsOf({ ...challenge, ...change });
        const spliced = await seal(keyring, 'challenge', [...other.slice(0, -1), ...original.slice(-1)], NOON);
        expect(await (await openChallenge(keyring, spliced, NOON))?.answeredBy(answer)).toBe(false);
      },
    ));

  test('has an answer tag that is invalid once a byte moves to the next field', async () => {
    const good = await fieldsOf(challenge);
    for (let index = 0; index + 1 < CHALLENGE_FIELDS; index++) {
      const [one, other] = [good[index]!, good[index + 1]!];
      const moved = good
        .with(index, new Uint8Array([...one, ...other.subarray(0, 1)]))
        .with(index + 1, other.subarray(1));
      const opened = await openChallenge(keyring, await seal(keyring, 'challenge', moved, NOON), NOON);
      expect((await opened?.answeredBy(answer)) ?? false, `fields ${index} and ${index + 1}`).toBe(false);
    }
  });

  test('from the future does not open', async () => {
    const text = await sealChallenge(keyring, { ...challenge, issuedAt: NOON + 60_000 }, answer);
    expect(await openChallenge(keyring, text, NOON)).toBeNull();
    expect(await openChallenge(keyring, text, NOON + 56_000)).not.toBeNull();
  });

  test('of another shape does not open, even inside a valid seal', async () => {
    const good = await fieldsOf(challenge);
    for (let index = 0; index < CHALLENGE_FIELDS - 1; index++) {
      const fields = [...good];
      fields[index] = new Uint8Array([0xff, 0xfe, 0xfd]);
      const opened = await openChallenge(keyring, await seal(keyring, 'challenge', fields, NOON), NOON);
      expect(opened, `field ${index}`).toBeNull();
    }
  });
});

describe('a sealed token', () => {
  test('returns all of its fields', async () => {
    expect(await openToken(keyring, await sealToken(keyring, token), NOON + 1000)).toEqual(token);
  });

  test('does not open as a challenge, and a challenge does not open as a token', async () => {
    expect(await openChallenge(keyring, await sealToken(keyring, token), NOON + 1000)).toBeNull();
    expect(await openToken(keyring, await sealChallenge(keyring, challenge, null), NOON + 1000)).toBeNull();
  });

  test('of another shape in any field does not open', () =>
    expectRows(
      Array.from({ length: TOKEN_FIELDS }, (_, index) => index),
      async (index) => {
        const good = (await unseal(keyring, 'token', await sealToken(keyring, token), TOKEN_FIELDS, NOON + 1000))!;
        const fields = good.with(index, new Uint8Array([0xff, 0xfe, 0xfd]));
        expect(await openToken(keyring, await seal(keyring, 'token', fields, NOON), NOON + 1000)).toBeNull();
      },
    ));

  test('with a malformed field does not open', () =>
    expectRows(
      [
        ['kind', 6, textField('Pow')],
        ['kind', 6, textField('constructor')],
        ['lane', 7, textField('')],
        ['difficulty', 8, textField('0.5')],
        ['difficulty', 8, textField('"4"')],
        ['edge', 9, textField('')],
        ['edge', 9, textField('{}')],
        ['edge', 9, textField(JSON.stringify({ ...token.edge, family: 5 }))],
        ['edge', 9, textField(JSON.stringify({ ...token.edge, extra: 1 }))],
        ['facts', 10, textField('null')],
        ['facts', 10, textField('{"score":2}')],
        ['facts', 10, textField(JSON.stringify({ ...token.facts, extra: 1 }))],
        ['facts', 10, textField(JSON.stringify({ ...token.facts, score: -1 }))],
        ['expiry', 14, new Uint8Array(8).fill(255)],
        ['jti', 0, new Uint8Array(0)],
        ['jti', 0, new Uint8Array(17)],
      ],
      async ([, index, field]) => {
        const good = (await unseal(keyring, 'token', await sealToken(keyring, token), TOKEN_FIELDS, NOON + 1000))!;
        const text = await seal(keyring, 'token', good.with(index, field), NOON);
        expect(await openToken(keyring, text, NOON + 1000)).toBeNull();
      },
    ));

  test('from the future does not open, except within the allowed clock skew', async () => {
    const text = await sealToken(keyring, token);
    expect(await openToken(keyring, text, NOON - 4000)).not.toBeNull();
    expect(await openToken(keyring, text, NOON - 5000)).toBeNull();
  });

  test('opens across midnight with a clock that is ahead or behind', async () => {
    const midnight = Date.UTC(2026, 10, 21);
    const late = await sealToken(keyring, { ...token, solvedAt: midnight - 1 });
    expect(await openToken(keyring, late, midnight + 60_000)).not.toBeNull();
    const early = await sealToken(keyring, { ...token, solvedAt: midnight });
    expect(await openToken(keyring, early, midnight - 2000)).not.toBeNull();
  });
});
