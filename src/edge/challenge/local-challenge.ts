/**
 * The challenge that the edge mints and checks itself while the service is away: SHA-256 work at the demanded difficulty,
 * level 0, bound to the visitor's network, user agent and host. It never replaces a picture. A weaker gate for a short
 * time is better than an open one, and better than locking visitors out during an outage. One for a session is sealed
 * for that purpose and buys no clearance, nor the other way round.
 */
import { BoundedMap } from '../../bytes/bounded-map.ts';
import type { SessionChallenge, SolutionResponse } from '../../contract/captcha/challenge-api.ts';
import { encodeHex } from '../../bytes/hex.ts';
import { isJsonObject } from '../../bytes/json.ts';
import { checkSha256, mintSha256 } from '../../captcha/pow/pow-sha256.ts';
import { levelOf, squaringsOf } from '../../captcha/pow/rsw-key.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { RequestFacts } from '../request/facts.ts';
import { openJson, sealJson, type BoxPurpose } from './sealed-box.ts';
import { ownerOf } from '../session/visitor.ts';

/** Stands in front of the edge's own challenges and tokens and tells them from the service's. */
const LOCAL_PREFIX = 'edge.';
export const LOCAL_LEVEL = 0;

/** Whether a challenge or a token is one of the edge's own, which only the edge can judge. */
export function isLocal(text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(LOCAL_PREFIX);
}

/**
 * The share of the service's price that the edge asks for. Native code hashes twenty times faster than plain JavaScript and
 * squares only a few times faster, so the full price would be three seconds of a desktop and seventeen of a slow phone.
 */
const LOCAL_SHARE = 1 / 4;
const CHALLENGE_SECONDS = 300;
const TOKEN_SECONDS = 120;
/** Tokens this isolate remembers as spent. Across isolates, the short life and the binding limit replays. */
const SPENT_MAX = 20_000;

interface LocalChallenge {
  jti: string;
  owner: string;
  powDifficulty: number;
  salt: string;
  bits: number;
  /** Epoch milliseconds. */
  expiresAt: number;
}
/** The kinds are reasons that the widget shows. */
export interface WorkFault {
  kind: 'invalid-challenge' | 'challenge-expired' | 'wrong-solution';
}
/** `local-token`: not this visitor's, or changed. */
export interface LocalTokenFault {
  kind: 'local-token' | 'expired';
}
export type LocalToken = Pick<LocalChallenge, 'jti' | 'owner' | 'powDifficulty' | 'expiresAt'>;

export class LocalChallenges {
  readonly #spent = new BoundedMap<true>(SPENT_MAX);

  /** A `challengeResponse` of the widget's API. */
  async mint(config: CompiledConfig, facts: RequestFacts, powDifficulty: number): Promise<object> {
    return { kind: 'pow', ...(await mintLocalWork(config, 'local-challenge', facts, powDifficulty)) };
  }

  async check(
    config: CompiledConfig,
    facts: RequestFacts,
    challenge: string,
    solution: unknown,
  ): Promise<SolutionResponse> {
    const solved = await solvedWork(config, 'local-challenge', facts, { challenge, solution });
    if (!solved.ok) return { verified: false, reason: solved.error.kind };
    const { jti, owner, powDifficulty } = solved.value;
    const token: LocalToken = { jti, owner, powDifficulty, expiresAt: facts.nowMs + TOKEN_SECONDS * 1000 };
    const sealed = await sealJson(config.keys.current, 'local-token', token);
    return { verified: true, token: LOCAL_PREFIX + sealed, expiresAt: token.expiresAt };
  }

  /** The visitor's own token, in time. It may be spent. */
  async open(config: CompiledConfig, facts: RequestFacts, token: string): Promise<Result<LocalToken, LocalTokenFault>> {
    const opened = await openJson<LocalToken>(config.keys.byKid, 'local-token', token.slice(LOCAL_PREFIX.length));
    if (opened?.owner !== (await ownerOf(facts))) return failed({ kind: 'local-token' });
    return facts.nowMs > opened.expiresAt ? failed({ kind: 'expired' }) : ok(opened);
  }

  /** True for the first call with a token. */
  spend({ jti }: LocalToken): boolean {
    if (this.#spent.get(jti)) return false;
    this.#spent.set(jti, true);
    return true;
  }
}

type WorkPurpose = Extract<BoxPurpose, 'local-challenge' | 'local-session'>;

export async function mintLocalWork(
  config: CompiledConfig,
  purpose: WorkPurpose,
  facts: RequestFacts,
  powDifficulty: number,
): Promise<SessionChallenge & { jti: string }> {
  const pow = mintSha256(squaringsOf(levelOf(powDifficulty)) * LOCAL_SHARE);
  const jti = encodeHex(crypto.getRandomValues(new Uint8Array(16)));
  const expiresAt = facts.nowMs + CHALLENGE_SECONDS * 1000;
  const owner = await ownerOf(facts);
  const sealed: LocalChallenge = { jti, owner, powDifficulty, salt: pow.salt, bits: pow.bits, expiresAt };
  const challenge = LOCAL_PREFIX + (await sealJson(config.keys.current, purpose, sealed));
  return { jti, challenge, expiresAt, pow: { lane: 'sha256', ...pow } };
}

/** What this visitor solved in time. */
export async function solvedWork(
  config: CompiledConfig,
  purpose: WorkPurpose,
  facts: RequestFacts,
  { challenge, solution }: { challenge: string; solution: unknown },
): Promise<Result<LocalChallenge, WorkFault>> {
  const opened = await openJson<LocalChallenge>(config.keys.byKid, purpose, challenge.slice(LOCAL_PREFIX.length));
  if (opened?.owner !== (await ownerOf(facts))) return failed({ kind: 'invalid-challenge' });
  if (facts.nowMs > opened.expiresAt) return failed({ kind: 'challenge-expired' });
  const counters = isJsonObject(solution) ? solution['counters'] : null;
  return checkSha256(opened.salt, opened.bits, counters) ? ok(opened) : failed({ kind: 'wrong-solution' });
}
