/**
 * The response token: proof that a challenge was solved, opaque to the page that carries it. It has the jti of its
 * challenge and a purpose of its own, so that a challenge is never accepted as a token.
 */
import { encodeHex } from '../../bytes/hex.ts';
import { parseJson } from '../../bytes/json.ts';
import { challengeKinds } from '../../contract/vocabulary.ts';
import type { ChallengeKind } from '../../contract/vocabulary.ts';
import { hexField, numberField, readNumber, readText, textField } from './field-encoding.ts';
import type { Bytes } from './field-encoding.ts';
import { CLOCK_SKEW_MS } from './keyring.ts';
import type { Keyring } from './keyring.ts';
import { seal, unseal } from './seal.ts';
import { challengeLanes } from './sealed-challenge.ts';
import type { ChallengeLane } from './sealed-challenge.ts';
import { sealedFacts } from './sealed-facts.ts';
import type { SealedFacts } from './sealed-facts.ts';

export interface SealedToken {
  jti: string;
  bornAt: number;
  siteKey: string;
  hostname: string;
  action: string;
  cdata: string;
  kind: ChallengeKind;
  lane: ChallengeLane;
  /** 0 wait and local lanes, 1 proof of work, 2 image or puzzle. */
  level: number;
  /** Epoch milliseconds: of the first issue of the challenge, of its solution, and of the token's expiry. */
  issuedAt: number;
  solvedAt: number;
  expiresAt: number;
  facts: SealedFacts;
}

const FIELDS = 13;
const JTI_BYTES = 16;

/** The level of a solved challenge. The wait lane never counts as work. */
export function levelOfLane(lane: ChallengeLane): number {
  return lane === 'wait' ? 0 : lane === 'rsw' || lane === 'sha256' ? 1 : 2;
}

export function sealToken(keyring: Keyring, token: SealedToken): Promise<string> {
  return seal(
    keyring,
    'token',
    [
      hexField(token.jti),
      numberField(token.bornAt),
      textField(token.siteKey),
      textField(token.hostname),
      textField(token.action),
      textField(token.cdata),
      textField(token.kind),
      textField(token.lane),
      numberField(token.level),
      numberField(token.issuedAt),
      numberField(token.solvedAt),
      numberField(token.expiresAt),
      textField(JSON.stringify(token.facts)),
    ],
    token.solvedAt,
  );
}

/** `null`: not sealed by this deployment, changed, or from the future. The caller checks expiry. */
export async function openToken(keyring: Keyring, text: string, nowMs: number): Promise<SealedToken | null> {
  const fields = await unseal(keyring, 'token', text, FIELDS, nowMs);
  if (fields === null || fields[0]!.length !== JTI_BYTES) return null;
  const token = tokenOf(fields);
  return token === null || token.solvedAt > nowMs + CLOCK_SKEW_MS ? null : token;
}

function tokenOf(fields: readonly Bytes[]): SealedToken | null {
  const [bornAt, level, issuedAt, solvedAt, expiresAt] = [1, 8, 9, 10, 11].map((index) => readNumber(fields[index]!));
  const [siteKey, hostname, action, cdata, kindText, laneText, factsText] = [2, 3, 4, 5, 6, 7, 12].map((index) =>
    readText(fields[index]!),
  );
  const kind = challengeKinds.find((known) => known === kindText);
  const lane = challengeLanes.find((known) => known === laneText);
  const facts = sealedFacts.safeParse(parseJson(factsText ?? null));
  if (bornAt == null || level == null || issuedAt == null || solvedAt == null || expiresAt == null) return null;
  if (siteKey == null || hostname == null || action == null || cdata == null) return null;
  if (kind === undefined || lane === undefined || !facts.success) return null;
  const jti = encodeHex(fields[0]!);
  return {
    jti,
    bornAt,
    siteKey,
    hostname,
    action,
    cdata,
    kind,
    lane,
    level,
    issuedAt,
    solvedAt,
    expiresAt,
    facts: facts.data,
  };
}
