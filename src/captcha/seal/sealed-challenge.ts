/**
 * What a challenge carries: everything the service needs to judge a solution, so that it stores nothing until a token
 * is spent. The order of the fields is the format; changing it changes the version in `seal.ts`. The answer itself is
 * never inside, only a keyed tag over it and over all other fields.
 */
import * as z from 'zod/mini';
import { encodeHex } from '../../bytes/hex.ts';
import { parseJson } from '../../bytes/json.ts';
import { puzzleLookChange } from '../../contract/management/site-settings.ts';
import { challengeKinds } from '../../contract/vocabulary.ts';
import type { ChallengeKind } from '../../contract/vocabulary.ts';
import { hexField, numberField, readNumber, readText, textField } from './field-encoding.ts';
import type { Bytes } from './field-encoding.ts';
import { CLOCK_SKEW_MS } from './keyring.ts';
import type { Keyring } from './keyring.ts';
import { openAnswered, sealAnswered } from './sealed-answer.ts';
import { sealedFacts } from './sealed-facts.ts';
import type { SealedFacts } from './sealed-facts.ts';

/** How the visitor solves it. `visual` and `audio` are the two forms of image and puzzle. */
export const challengeLanes = ['rsw', 'sha256', 'wait', 'visual', 'audio'] as const;
export type ChallengeLane = (typeof challengeLanes)[number];

/** What judging needs beside the answer. Bounded, and read only after the seal has opened. */
const challengeParams = z.strictObject({
  /** rsw: squarings. */
  t: z.optional(z.int()),
  /** sha256: salts, base64url, and bits each. */
  salt: z.optional(z.string()),
  bits: z.optional(z.int()),
  /** wait: epoch milliseconds from which a solution is accepted. */
  notBefore: z.optional(z.int()),
  /** image: rounds that count, rounds before them that do not, the share needed, tiles judged and right so far. */
  rounds: z.optional(z.int()),
  uncounted: z.optional(z.int()),
  threshold: z.optional(z.number()),
  judged: z.optional(z.int()),
  right: z.optional(z.int()),
  /** Round in which the current try began, and tries that failed. */
  startedAtRound: z.optional(z.int()),
  failures: z.optional(z.int()),
  /** puzzle: pixels the piece may be off, and how hard the picture is. */
  tolerance: z.optional(z.int()),
  hardness: z.optional(z.int()),
  /** puzzle: how the picture differs from the site's own look, in every round. */
  look: z.optional(puzzleLookChange),
});
export type ChallengeParams = z.infer<typeof challengeParams>;

export interface SealedChallenge {
  /** 16 random bytes in hex: the same id in challenge, token, clearance and verdict. */
  jti: string;
  /** When this jti was first issued, in any round; epoch milliseconds. The spend ledger files it under this time. */
  bornAt: number;
  siteKey: string;
  hostname: string;
  action: string;
  cdata: string;
  kind: ChallengeKind;
  lane: ChallengeLane;
  issuedAt: number;
  expiresAt: number;
  /** From 0. */
  round: number;
  facts: SealedFacts;
  params: ChallengeParams;
}

const FIELDS = 13;
/** What `newJti` makes. */
const jtiPattern = /^[0-9a-f]{32}$/;
const JTI_BYTES = 16;

export function newJti(): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(JTI_BYTES)));
}

/** `answer`: the canonical bytes of the right answer; `null` where judging is not a comparison. */
export function sealChallenge(
  keyring: Keyring,
  challenge: SealedChallenge,
  answer: Uint8Array | null,
): Promise<string> {
  return sealAnswered(keyring, 'challenge', fieldsOf(challenge), answer, challenge.issuedAt);
}

export interface OpenedChallenge {
  challenge: SealedChallenge;
  /** Compares in constant time. Always false for a challenge that was sealed without an answer. */
  answeredBy(answer: Uint8Array): Promise<boolean>;
}

/** `null`: not sealed by this deployment, changed, or from the future. The caller checks expiry. */
export async function openChallenge(keyring: Keyring, text: string, nowMs: number): Promise<OpenedChallenge | null> {
  const opened = await openAnswered(keyring, 'challenge', text, FIELDS, nowMs);
  const challenge = opened && challengeOf(opened.fields);
  if (challenge === null || challenge.issuedAt > nowMs + CLOCK_SKEW_MS) return null;
  return { challenge, answeredBy: (answer) => opened!.answeredBy(answer, challenge.issuedAt) };
}

function fieldsOf(challenge: SealedChallenge): Bytes[] {
  return [
    hexField(challenge.jti),
    numberField(challenge.bornAt),
    textField(challenge.siteKey),
    textField(challenge.hostname),
    textField(challenge.action),
    textField(challenge.cdata),
    textField(challenge.kind),
    textField(challenge.lane),
    numberField(challenge.issuedAt),
    numberField(challenge.expiresAt),
    numberField(challenge.round),
    textField(JSON.stringify(challenge.facts)),
    textField(JSON.stringify(challenge.params)),
  ];
}

function challengeOf(fields: readonly Bytes[]): SealedChallenge | null {
  const numbers = [fields[1]!, fields[8]!, fields[9]!, fields[10]!].map(readNumber);
  const texts = [2, 3, 4, 5, 6, 7, 11, 12].map((index) => readText(fields[index]!));
  const [bornAt, issuedAt, expiresAt, round] = numbers;
  const [siteKey, hostname, action, cdata, kindText, laneText, factsText, paramsText] = texts;
  const jti = encodeHex(fields[0]!);
  const kind = challengeKinds.find((known) => known === kindText);
  const lane = challengeLanes.find((known) => known === laneText);
  const facts = sealedFacts.safeParse(parseJson(factsText ?? null));
  const params = challengeParams.safeParse(parseJson(paramsText ?? null));
  if (bornAt == null || issuedAt == null || expiresAt == null || round == null) return null;
  if (siteKey == null || hostname == null || action == null || cdata == null) return null;
  if (kind === undefined || lane === undefined || !facts.success || !params.success || !jtiPattern.test(jti))
    return null;
  return {
    jti,
    bornAt,
    siteKey,
    hostname,
    action,
    cdata,
    kind,
    lane,
    issuedAt,
    expiresAt,
    round,
    facts: facts.data,
    params: params.data,
  };
}
