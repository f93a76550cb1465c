/** The signature of a request: what proves an agent, what proves nothing, and what cannot be right. */
import { beforeAll, describe, expect, test } from 'vitest';
import { AgentKeys } from '../../../../src/bots/signatures/agent-keys.ts';
import { SignatureCheck, type SignatureOptions } from '../../../../src/bots/signatures/check-signature.ts';
import { acceptSignature } from '../../../../src/bots/signatures/accept-signature.ts';
import { outcomeWord } from '../../../support/outcome-word.ts';
import type { BotKey } from '../../../../src/contract/edge/bot-calls.ts';
import { expectRows } from '../../../support/rows.ts';
import { type AgentKeyPair, agentKeyPair, signed, type Signing } from '../../../support/signed-request.ts';
import { DRAFT_CREATED_MS, DRAFT_URL, draftKeys, draftVectors } from './draft-vectors.ts';

const NOW_MS = 1_800_000_000_000;
const WELL_KNOWN = '/.well-known/http-message-signatures-directory';
const AGENT = `https://agent.test${WELL_KNOWN}`;

let pair: AgentKeyPair;
let rsaPair: AgentKeyPair;
beforeAll(async () => {
  [pair, rsaPair] = await Promise.all([agentKeyPair(), agentKeyPair('rsa')]);
});

async function checkWith(
  directories: Readonly<Record<string, readonly BotKey[]>>,
  options: SignatureOptions = {},
  nowMs = NOW_MS,
): Promise<SignatureCheck> {
  const keys = new AgentKeys();
  for (const [directory, listed] of Object.entries(directories)) {
    await keys.learn(directory, { isFetched: true, keys: [...listed], maxAgeSeconds: 3600 }, nowMs);
  }
  return new SignatureCheck(keys, options);
}

/** The word of the log for a request that the agent signs so. */
async function wordOf(
  signing: Partial<Signing>,
  change: (request: Request) => void = () => {},
): Promise<string | null> {
  const check = await checkWith({ [AGENT]: [pair.key, rsaPair.key] });
  const request = await signed(pair, { nowMs: NOW_MS, ...signing });
  change(request);
  return outcomeWord(await check.check(request, NOW_MS));
}

describe('the vectors of the draft', () => {
  const directory = `https://signature-agent.test${WELL_KNOWN}`;
  const request = ({ agent, input, signature }: (typeof draftVectors)[number], url = DRAFT_URL): Request =>
    new Request(url, { headers: { 'signature-agent': agent, 'signature-input': input, signature } });

  test('holds for each of them', () =>
    expectRows(draftVectors, async (vector) => {
      const options = { acceptsTestKeys: true, lifetimeMaxMs: Infinity };
      const check = await checkWith({ [directory]: draftKeys }, options, DRAFT_CREATED_MS);
      const found = await check.check(request(vector), DRAFT_CREATED_MS + 1000);
      expect(found).toMatchObject({ outcome: 'verified', agent: directory, label: 'sig2' });
      expect(outcomeWord(await check.check(request(vector, 'https://example.org/'), DRAFT_CREATED_MS))).toBe(
        'invalid-signature',
      );
    }));

  test('are refused where test keys are not accepted', () =>
    expectRows(draftVectors, async (vector) => {
      const check = await checkWith({ [directory]: draftKeys }, { lifetimeMaxMs: Infinity }, DRAFT_CREATED_MS);
      expect(outcomeWord(await check.check(request(vector), DRAFT_CREATED_MS + 1000))).toBe('invalid-test-key');
    }));
});

describe('the four ways to name an agent', () => {
  const keyed = { name: 'signature-agent', parameters: { key: 'g' } };
  test('each lead to its keys', () =>
    expectRows(
      [
        ['a bare string', '"https://agent.test"', 'signature-agent', AGENT],
        ['an origin under any key', 'g="https://agent.test"', keyed, AGENT],
        ['the address of a key set', 'g="https://agent.test/jwks.json"', keyed, 'https://agent.test/jwks.json'],
        ['an origin with type=directory', 'g="https://agent.test";type=directory', keyed, AGENT],
      ],
      async ([, agent, component, directory]) => {
        const check = await checkWith({ [directory]: [pair.key] });
        const request = await signed(pair, { nowMs: NOW_MS, agent, components: ['@authority', component] });
        const found = await check.check(request, NOW_MS);
        expect(found).toMatchObject({ outcome: 'verified', agent: directory, keyid: pair.keyid, label: 'sig1' });
      },
    ));

  test('a member with other parameters names nobody', async () => {
    const agent = 'sig1="https://agent.test";type=jwks_uri';
    expect(await wordOf({ agent })).toBe('unverified-agent-missing');
  });

  test('RSA-PSS counts as Ed25519 does', async () => {
    const check = await checkWith({ [AGENT]: [rsaPair.key] });
    const request = await signed(rsaPair, { nowMs: NOW_MS, parameters: { alg: 'rsa-pss-sha512' } });
    expect(await check.check(request, NOW_MS)).toMatchObject({ outcome: 'verified', keyid: rsaPair.keyid });
  });
});

describe('a key counts for its own directory only', () => {
  test('a key that another agent publishes proves nothing for this one', async () => {
    const other = await agentKeyPair();
    const check = await checkWith({ [AGENT]: [other.key], [`https://evil.test${WELL_KNOWN}`]: [pair.key] });
    const found = await check.check(await signed(pair, { nowMs: NOW_MS }), NOW_MS);
    expect(found).toEqual({
      outcome: 'unverified',
      reason: 'key-not-listed',
      missing: { directory: AGENT, agent: AGENT, keyid: pair.keyid },
    });
  });

  test('an unknown agent is named with what is missing, at once', async () => {
    const check = await checkWith({});
    const request = await signed(pair, { nowMs: NOW_MS, agent: 'sig1="https://new.test/keys?v=1"' });
    const directory = 'https://new.test/keys?v=1';
    const missing = { directory, agent: 'https://new.test/keys', keyid: pair.keyid };
    expect(check.check(request, NOW_MS)).toEqual({ outcome: 'unverified', reason: 'keys-unknown', missing });
  });
});

describe('requests without a signature of this profile', () => {
  test('are unsigned where they name an agent, and nothing otherwise', () =>
    expectRows(
      [
        ['no header', {}, null],
        ['an agent without a signature', { 'signature-agent': '"https://agent.test"' }, 'unsigned'],
        ['a signature of another profile', { 'signature-input': 'sig1=("date");tag="other"', signature: 'x' }, null],
        ['an unreadable signature of another profile', { 'signature-input': '(((', signature: ')))' }, null],
        [
          'only other signatures beside an agent',
          { 'signature-agent': 'a="https://a.test"', 'signature-input': 'a=()', signature: 'a=:AA==:' },
          'unsigned',
        ],
      ],
      async ([, headers, word]) => {
        const check = await checkWith({});
        expect(outcomeWord(await check.check(new Request('https://shop.example/', { headers }), NOW_MS))).toBe(word);
      },
    ));
});

describe('what cannot be right', () => {
  const keyed = (key: string) => ({ name: 'signature-agent', parameters: { key } });
  const set = (name: string, value: string) => (request: Request) => request.headers.set(name, value);
  const edit = (name: string, from: string | RegExp, to: string) => (request: Request) =>
    request.headers.set(name, request.headers.get(name)!.replace(from, to));

  test('a signature has the outcome that names its fault', () =>
    expectRows<[string, string, Partial<Signing>, ((request: Request) => void)?]>(
      [
        ['covers no host', 'invalid-target-not-covered', { components: ['@method', keyed('sig1')] }],
        ['does not cover the agent', 'invalid-agent-not-covered', { components: ['@authority'] }],
        ['has no created', 'invalid-parameters', { without: ['created'] }],
        ['has no expires', 'invalid-parameters', { without: ['expires'] }],
        ['has no keyid', 'invalid-parameters', { without: ['keyid'] }],
        ['has a keyid that is no thumbprint', 'invalid-parameters', { parameters: { keyid: 'key-1' } }],
        ['has expired', 'invalid-expired', { nowMs: NOW_MS - 361_000 }],
        ['is from the future', 'invalid-not-yet', { nowMs: NOW_MS + 62_000 }],
        ['lives longer than a day', 'invalid-lives-too-long', { lifetimeSeconds: 86_401 }],
        ['ends before it begins', 'invalid-lives-too-long', { lifetimeSeconds: -1 }],
        [
          'uses a shared secret',
          'invalid-algorithm',
          {},
          edit('signature-input', ';keyid', ';alg="hmac-sha256";keyid'),
        ],
        [
          'names the algorithm of another key',
          'invalid-algorithm',
          {},
          edit('signature-input', ';keyid', ';alg="rsa-pss-sha512";keyid'),
        ],
        [
          'uses an algorithm that is not known here',
          'unverified-algorithm-unknown',
          {},
          edit('signature-input', ';keyid', ';alg="ecdsa-p256-sha256";keyid'),
        ],
        ['has other bytes', 'invalid-signature', {}, set('signature', `sig1=:${'A'.repeat(86)}==:`)],
        ['has no bytes of its label', 'invalid-unreadable', {}, edit('signature', 'sig1', 'sig9')],
        ['has a token for bytes', 'invalid-unreadable', {}, set('signature', 'sig1=abc')],
        ['has its label twice', 'invalid-label-repeated', {}, edit('signature-input', /^.*$/, '$&, $&')],
        ['has its bytes twice', 'invalid-label-repeated', {}, edit('signature', /^.*$/, '$&, $&')],
        ['has a parameter twice', 'invalid-label-repeated', {}, edit('signature-input', ';keyid', ';created=1;keyid')],
        ['has an agent twice', 'invalid-label-repeated', {}, edit('signature-agent', /^.*$/, '$&, $&')],
        [
          'covers a component twice',
          'invalid-component-repeated',
          {},
          edit('signature-input', '"@authority"', '"@authority" "@authority"'),
        ],
        [
          'covers an unknown component',
          'unverified-component-unknown',
          {},
          edit('signature-input', '"@authority"', '"@authority" "@body"'),
        ],
        [
          'covers a component by unknown parameters',
          'unverified-component-unknown',
          {},
          edit('signature-input', '"@authority"', '"@authority" "date";bs'),
        ],
        [
          'covers a property that every object has',
          'invalid-component-missing',
          {},
          edit('signature-input', '"@authority"', '"@authority" "constructor"'),
        ],
        [
          'covers a member of such a field',
          'invalid-component-missing',
          {},
          edit('signature-input', '"@authority"', '"@authority" "constructor";key="a"'),
        ],
        [
          'covers a field that was not sent',
          'invalid-component-missing',
          {},
          edit('signature-input', '"@authority"', '"@authority" "date"'),
        ],
        [
          'covers a member that was not sent',
          'invalid-component-missing',
          {},
          set('signature-agent', 'other="https://agent.test"'),
        ],
        [
          'comes without its agent',
          'unverified-agent-missing',
          {},
          (request) => request.headers.delete('signature-agent'),
        ],
        [
          'names two agents, neither by its label',
          'invalid-agent-ambiguous',
          { agent: 'a="https://a.test", b="https://b.test"', components: ['@authority', keyed('a'), keyed('b')] },
        ],
        ['names an agent over http', 'invalid-agent-not-https', { agent: 'sig1="http://agent.test"' }],
        ['names an agent with a password', 'invalid-agent-not-https', { agent: 'sig1="https://a:b@agent.test"' }],
        ['names an agent by a token', 'invalid-unreadable', { agent: 'sig1=agent' }],
        ['is unreadable', 'invalid-unreadable', {}, set('signature-input', 'sig1=("@authority')],
        ['is longer than any', 'invalid-too-large', {}, set('signature', `sig1=:${'A'.repeat(5000)}:`)],
        [
          'has a hundred labels',
          'invalid-too-large',
          {},
          edit('signature-input', /$/, Array.from({ length: 100 }, (_, i) => `, l${i}=()`).join('')),
        ],
        [
          'covers a hundred components',
          'invalid-too-large',
          {},
          edit('signature-input', '"@authority"', Array.from({ length: 100 }, (_, i) => `"x-${i}"`).join(' ')),
        ],
      ],
      async ([, word, signing, change]) => {
        expect(await wordOf(signing, change)).toBe(word);
      },
    ));
});

describe('a remembered signature', () => {
  const components = ['@authority', '@method', '@path', { name: 'signature-agent', parameters: { key: 'sig1' } }];

  test('answers at once for the same request', async () => {
    const check = await checkWith({ [AGENT]: [pair.key] });
    const request = await signed(pair, { nowMs: NOW_MS, components });
    const first = await check.check(request, NOW_MS);
    expect(check.check(request, NOW_MS)).toBe(first);
    expect(first).toMatchObject({ outcome: 'verified', expiresAtMs: NOW_MS + 300_000 });
  });

  test.each([
    ['path', 'https://shop.example/other', 'GET', 'invalid'],
    ['host', 'https://other.example/page', 'GET', 'invalid'],
    ['method', 'https://shop.example/page', 'POST', 'invalid'],
    ['query, which it does not cover', 'https://shop.example/page?q=2', 'GET', 'verified'],
  ])('is checked again for another %s', async (_, url, method, outcome) => {
    const check = await checkWith({ [AGENT]: [pair.key] });
    const request = await signed(pair, { nowMs: NOW_MS, components });
    expect(await check.check(request, NOW_MS)).toMatchObject({ outcome: 'verified' });
    expect(await check.check(new Request(url, { method, headers: request.headers }), NOW_MS)).toMatchObject({
      outcome,
    });
    expect(await check.check(request, NOW_MS)).toMatchObject({ outcome: 'verified' });
  });

  test('ends with its time, and with its key', async () => {
    const keys = new AgentKeys();
    const listed = { isFetched: true, maxAgeSeconds: 600 };
    await keys.learn(AGENT, { ...listed, keys: [pair.key] }, NOW_MS);
    const check = new SignatureCheck(keys);
    const request = await signed(pair, { nowMs: NOW_MS });
    expect(await check.check(request, NOW_MS)).toMatchObject({ outcome: 'verified' });
    expect(outcomeWord(await check.check(request, NOW_MS + 361_000))).toBe('invalid-expired');
    await keys.learn(AGENT, { ...listed, keys: [rsaPair.key] }, NOW_MS);
    expect(outcomeWord(await check.check(request, NOW_MS))).toBe('unverified-key-not-listed');
  });
});

test('of two signatures, one that holds is enough, whatever the other one is', async () => {
  const check = await checkWith({ [AGENT]: [pair.key] });
  const request = await signed(pair, { nowMs: NOW_MS });
  request.headers.append('signature-input', 'x=("@authority");tag="web-bot-auth"');
  request.headers.append('signature', 'x=:AAAA:');
  expect(await check.check(request, NOW_MS)).toMatchObject({ outcome: 'verified', label: 'sig1' });
});

test('an outer signature may cover an inner one', async () => {
  const check = await checkWith({ [AGENT]: [pair.key] });
  const inner = await signed(pair, { nowMs: NOW_MS });
  const both = `${inner.headers.get('signature-agent')}, b="https://browser.test"`;
  const components = [
    '@authority',
    ...['signature-agent', 'signature-input', 'signature'].map((name) => ({ name, parameters: { key: 'sig1' } })),
    { name: 'signature-agent', parameters: { key: 'b' } },
  ];
  const headers = {
    'signature-input': inner.headers.get('signature-input')!,
    signature: inner.headers.get('signature')!,
  };
  const outer = await signed(rsaPair, { nowMs: NOW_MS, label: 'b', agent: both, headers, components });
  outer.headers.set('signature-input', `${headers['signature-input']}, ${outer.headers.get('signature-input')}`);
  outer.headers.set('signature', `${headers.signature}, ${outer.headers.get('signature')}`);
  const outerOnly = await checkWith({ [`https://browser.test${WELL_KNOWN}`]: [rsaPair.key] });
  expect(await outerOnly.check(outer, NOW_MS)).toMatchObject({ outcome: 'verified', label: 'b' });
  expect(await check.check(outer, NOW_MS)).toMatchObject({ outcome: 'verified', label: 'sig1' });
});

test('a refusal asks for a signature that would be verified', async () => {
  expect(acceptSignature('n1')).toBe(
    'sig1=("@authority" "@method" "@path" "signature-agent";key="sig1");created;expires;keyid;nonce="n1";tag="web-bot-auth"',
  );
});

test('a field of a thousand members is not read for one of them', async () => {
  const members = (count: number): string => Array.from({ length: count }, (_, at) => `m${at}=${at}`).join(', ');
  const listed = { name: 'example-dict', parameters: { key: 'm1' } };
  const word = (count: number) =>
    wordOf({
      components: ['@authority', { name: 'signature-agent', parameters: { key: 'sig1' } }, listed],
      headers: { 'example-dict': members(count) },
    });
  expect(await word(10)).toBe('verified');
  expect(await word(350)).toBe('invalid-component-missing');
});
