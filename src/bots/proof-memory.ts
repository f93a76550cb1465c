/**
 * What an isolate knows of the proofs of bots that only the service can look up: keys of agents, and names of addresses.
 * A request is answered from memory, at once; what is missing or about to expire is asked for behind the response, once
 * at a time and within a bound per minute. The next request then knows. No answer is no evidence.
 */
import type { WaitUntil } from '../bytes/polled.ts';
import { BoundedMap } from '../bytes/bounded-map.ts';
import { WindowCounts } from '../bytes/window-counts.ts';
import type { BotKeys, BotNameAnswer } from '../contract/edge/bot-calls.ts';
import type { Result } from '../result.ts';
import { AgentKeys } from './signatures/agent-keys.ts';
import { SignatureCheck } from './signatures/check-signature.ts';
import type { SignedRequest } from './signatures/covered-components.ts';
import { type SignatureOutcome, unverified } from './signatures/signature-outcome.ts';

/** Calls of the service. */
export interface ProofService {
  /** `POST /edge/v1/bot-keys`. */
  keys(question: { agent: string; keyid: string }): Promise<Result<BotKeys, unknown>>;
  /** `POST /edge/v1/bot-proofs`. */
  name(question: { bot: string; ip: string }): Promise<Result<BotNameAnswer, unknown>>;
  /** `POST /edge/v1/bot-nonces/spend`: whether nobody used the nonce before. */
  spendNonce(question: {
    agent: string;
    keyid: string;
    nonce: string;
    expiresAt: number;
  }): Promise<Result<boolean, unknown>>;
}

interface NameProof {
  holds: boolean | null;
  untilMs: number;
  askFromMs: number;
}

/** About 200 bytes each. */
const NAMES_MAX = 5000;
const NONCES_MAX = 2000;
/** Each can be a look-up in DNS, and anybody can send a bot's name. */
const NAMES_ASKED_PER_MINUTE = 200;
const MINUTE_MS = 60_000;
/** While a question is under way, and after one that got no answer. */
const ASK_AGAIN_MS = 60_000;
const REFRESH_AFTER = 0.75;

export class ProofMemory {
  readonly #service: ProofService;
  readonly #agents = new AgentKeys();
  readonly #signatures = new SignatureCheck(this.#agents);
  readonly #names = new BoundedMap<NameProof>(NAMES_MAX);
  readonly #nonces = new BoundedMap<true>(NONCES_MAX);
  readonly #asked = new WindowCounts(NAMES_ASKED_PER_MINUTE, MINUTE_MS);

  constructor(service: ProofService) {
    this.#service = service;
  }

  /** A promise only for a signature that is new here and whose key is known. */
  signature(request: SignedRequest, nowMs: number, waitUntil: WaitUntil): SignatureOutcome | Promise<SignatureOutcome> {
    const found = this.#signatures.check(request, nowMs);
    if (!(found instanceof Promise)) return this.#refreshed(found, nowMs, waitUntil);
    return found.then((outcome) => this.#refreshed(outcome, nowMs, waitUntil));
  }

  /**
   * Verified only where the signature has a nonce that nobody used before. The service knows that, and this is the one
   * question that a request waits for. A nonce that was seen here is not asked about: a captured request costs nothing.
   */
  async once(checked: SignatureOutcome | Promise<SignatureOutcome>): Promise<SignatureOutcome> {
    const found = await checked;
    if (found.outcome !== 'verified') return found;
    const { directory, agent, keyid, nonce, expiresAtMs: expiresAt } = found;
    const key = `${directory} ${keyid} ${nonce}`;
    if (nonce && !this.#nonces.get(key)) {
      this.#nonces.set(key, true);
      const spent = await this.#service.spendNonce({ agent: directory, keyid, nonce, expiresAt });
      if (spent.ok && spent.value) return found;
    }
    return unverified('nonce', { directory, agent, keyid });
  }

  /** Whether the names of the address prove the bot; `null` while that is not known. */
  name(bot: string, ip: string, nowMs: number, waitUntil: WaitUntil): boolean | null {
    const key = `${bot} ${ip}`;
    const known = this.#names.get(key);
    const holds = known !== undefined && known.untilMs > nowMs ? known.holds : null;
    if ((known === undefined || known.askFromMs <= nowMs) && this.#asked.take('', nowMs)) {
      const untilMs = known?.untilMs ?? 0;
      this.#names.set(key, { holds, untilMs, askFromMs: nowMs + ASK_AGAIN_MS });
      waitUntil(this.#learnName(key, { bot, ip }, nowMs));
    }
    return holds;
  }

  #refreshed(outcome: SignatureOutcome, nowMs: number, waitUntil: WaitUntil): SignatureOutcome {
    const wanted = outcome.outcome === 'verified' ? outcome : outcome.outcome === 'unverified' ? outcome.missing : null;
    if (wanted !== null && this.#agents.shouldAsk(wanted, nowMs)) waitUntil(this.#learnKeys(wanted, nowMs));
    return outcome;
  }

  async #learnKeys({ directory, keyid }: { directory: string; keyid: string }, nowMs: number): Promise<void> {
    const answer = await this.#service.keys({ agent: directory, keyid });
    if (answer.ok) await this.#agents.learn(directory, answer.value, nowMs);
    else this.#agents.failed(directory, nowMs);
  }

  async #learnName(key: string, question: { bot: string; ip: string }, nowMs: number): Promise<void> {
    const answer = await this.#service.name(question);
    // What is known stays, and is asked for again.
    if (!answer.ok || answer.value.holds === null) return;
    const { holds, ttlSeconds } = answer.value;
    const forMs = ttlSeconds * 1000;
    this.#names.set(key, {
      holds,
      untilMs: nowMs + forMs,
      askFromMs: nowMs + forMs * REFRESH_AFTER,
    });
  }
}
