/** The vectors of draft-ietf-webbotauth-httpsig-protocol, "Test Vectors": public keys and the fields of each request. */
import type { BotKey } from '../../../../src/contract/edge/bot-calls.ts';

export const draftKeys: readonly BotKey[] = [
  {
    keyid: 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U',
    kty: 'OKP',
    crv: 'Ed25519',
    x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs',
  },
  {
    keyid: 'oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA',
    kty: 'RSA',
    e: 'AQAB',
    n: 'r4tmm3r20Wd_PbqvP1s2-QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct-Lh1GH45x28Rw3Ry53mm-oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHqgDsznjPFmTOtCEcN2Z1FpWgchwuYLPL-Wokqltd11nqqzi-bJ9cvSKADYdUAAN5WUtzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4aOT9v6d-nb4bnNkQVklLQ3fVAvJm-xdDOp9LCNCN48V2pnDOkFV6-U9nV5oyc6XI2w',
  },
];

export const DRAFT_URL = 'https://example.com/path/to/resource';
export const DRAFT_CREATED_MS = 1_735_689_600_000;

const input = (covered: string, keyid: string, alg: string, expires: number, nonce: string): string =>
  `sig2=("@authority" ${covered});created=1735689600;keyid="${keyid}";alg="${alg}";expires=${expires};nonce="${nonce}";tag="web-bot-auth"`;

const dictionary = { agent: 'agent2="https://signature-agent.test"', covered: '"signature-agent";key="agent2"' };
const bare = { agent: '"https://signature-agent.test"', covered: '"signature-agent"' };
const ED25519 = draftKeys[0]!.keyid;
const RSA = draftKeys[1]!.keyid;

export const draftVectors = [
  {
    name: 'RSA-PSS, dictionary',
    agent: dictionary.agent,
    input: input(
      dictionary.covered,
      RSA,
      'rsa-pss-sha512',
      4889289600,
      'wcfPQPh7SzkvrIVvhD00vNk9PkxJNY2NVbYl2PVBB4zmUoluSwE7W6bPtF60QA3k8g06FU7PPCD+J58YofY1zg==',
    ),
    signature:
      'sig2=:gHzpLNeHaHIO19NaJH9YMW5dcVSi2s0wOMBr6p18vcofS106sfC4KBIS0/szPlBBd1vIcyQ88B6CTEWIhRAiVrb9zfX0mx1aG12CSGWcYkSirHeyTxhbuJvXd27ed6skWoy4PjXItq38936ivUQjfdIwXh1aX6HxkAC3vRnEdSNfntkLWeEuIQ5BLIOBGE39fSwg27Qjq6OVWYas/9/aFUr3HA34MXWYdp+//cvlEKDp3kRoLOw9ro0AOr6srHrTeEtxon2afcws1aZVSlPdd2fZSEIGmw9HAHLDCEkFTERu1gH2k/zIEqgy7CAYXI9E5slog0cLg/Vc6+f8gih33g==:',
  },
  {
    name: 'RSA-PSS, bare string',
    agent: bare.agent,
    input: input(
      bare.covered,
      RSA,
      'rsa-pss-sha512',
      1735693200,
      'XSHtZVCThSIAksXsH9WBs6AtxtXC0eQGiIcUGSoJstFs8lAWakjhrfwzLhyjtme5iXMZvmFWqDEs6cT3Jf+BbQ==',
    ),
    signature:
      'sig2=:I1QWNzGXdP1a4dSvOHLCVOOanEYHDk+ZsVxM9MLX/p4ko69ghKwR5EOtAD96g7g4GWP7lmpM/jFAf9q8EFRDTPLjUXySwMv4YPgabv2LQihTJG2y8a2m6IGltyruwQNiqSJVUuRaG9+b17CGmAMFZh30X6GXLdQJrCARpeTqPwp2DC+a8haDE/VE5EruqzjA5/2mKwvrkzkSqeW5tOVtFwWRRHIOidquf/8Je6kM9mhgkg4arudLA5SL4wyyYE1jURIgcOl8agrfdJ5Def23DIRtiOLRa8jT9cpTLFAuFHN+mrZA/LH9h0gSIg1cPb+0cMASee5uku1KjWcFer7jWA==:',
  },
  {
    name: 'Ed25519, dictionary',
    agent: dictionary.agent,
    input: input(
      dictionary.covered,
      ED25519,
      'ed25519',
      4889289600,
      'n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==',
    ),
    signature: 'sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:',
  },
  {
    name: 'Ed25519, bare string',
    agent: bare.agent,
    input: input(
      bare.covered,
      ED25519,
      'ed25519',
      1735693200,
      'e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==',
    ),
    signature: 'sig2=:jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==:',
  },
];
