/**
 * Checks the signature of a request by Web Bot Auth. The answer comes at once for everything but a signature that is new
 * here and whose key is known: that one is a promise. Nothing is fetched. An `unverified` outcome names the keys that
 * are missing, and the caller asks for them behind the response.
 *
 * A signature that was checked is remembered with the text that it signs. For another request that text differs where
 * the signature covers the difference, so that the check is made again.
 */
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { encodeUtf8 } from '../../bytes/utf8.ts';
import type { AgentKey, AgentKeys } from './agent-keys.ts';
import { type SignedRequest, signedText } from './covered-components.ts';
import { type ReadSignature, readSignatures, SIGNATURE_TAG, type SignatureClaim } from './read-signatures.ts';
import { invalid, type SignatureOutcome, unverified, type VerifiedAgent } from './signature-outcome.ts';

export interface SignatureOptions {
  /** The keys of RFC 9421's examples, whose private halves are published. */
  acceptsTestKeys?: boolean;
  lifetimeMaxMs?: number;
}

/** Thumbprints of RFC 9421's Ed25519 key and RSA-PSS key. */
const testKeys = ['poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U', 'oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA'];

/** As the profile recommends. A signature is a credential until it ends. */
const LIFETIME_MAX_MS = 24 * 3600 * 1000;
/** Between the clock of an agent and ours. */
const CLOCK_SKEW_MS = 60_000;
/** Requests whose fields are remembered, with at most 4 KB each. */
const REMEMBERED_MAX = 500;
const REMEMBERED_MAX_CHARS = 2048;

const NONE: SignatureOutcome = { outcome: 'none' };

/** What a claim was found to be, for one text and one key. */
interface Checked {
  text: string;
  key: CryptoKey;
  outcome: SignatureOutcome;
}

type Remembered = ReadSignature & { checked?: Checked };

export class SignatureCheck {
  /** By the bytes of the signatures. */
  readonly #read = new BoundedMap<{ input: string; agent: string | null; read: readonly Remembered[] }>(REMEMBERED_MAX);
  readonly #keys: AgentKeys;
  readonly #acceptsTestKeys: boolean;
  readonly #lifetimeMaxMs: number;

  constructor(keys: AgentKeys, { acceptsTestKeys = false, lifetimeMaxMs = LIFETIME_MAX_MS }: SignatureOptions = {}) {
    this.#keys = keys;
    this.#acceptsTestKeys = acceptsTestKeys;
    this.#lifetimeMaxMs = lifetimeMaxMs;
  }

  check(request: SignedRequest, nowMs: number): SignatureOutcome | Promise<SignatureOutcome> {
    const input = request.headers.get('signature-input');
    const agent = request.headers.get('signature-agent');
    // Signatures of other profiles are none of our business, readable or not.
    if (agent === null && input?.includes(SIGNATURE_TAG) !== true) return NONE;
    if (input === null) return { outcome: 'unsigned' };
    const read = this.#readOnce(input, request.headers.get('signature') ?? '', agent);
    const [first] = read;
    if (first === undefined) return agent === null ? NONE : { outcome: 'unsigned' };
    if (read.length === 1) return this.#judge(first, request, nowMs);
    const found = read.map((one) => this.#judge(one, request, nowMs));
    return found.some((one) => one instanceof Promise)
      ? Promise.all(found.map((one) => Promise.resolve(one))).then(foremost)
      : foremost(found as SignatureOutcome[]);
  }

  #readOnce(input: string, signature: string, agent: string | null): readonly Remembered[] {
    const known = this.#read.get(signature);
    if (known !== undefined && known.input === input && known.agent === agent) return known.read;
    const read: readonly Remembered[] = readSignatures({ input, signature, agent });
    if (input.length + signature.length + (agent?.length ?? 0) <= REMEMBERED_MAX_CHARS) {
      this.#read.set(signature, { input, agent, read });
    }
    return read;
  }

  #judge(claim: Remembered, request: SignedRequest, nowMs: number): SignatureOutcome | Promise<SignatureOutcome> {
    if ('outcome' in claim) return claim;
    const { directory, agent, keyid, algorithm, createdMs, expiresMs } = claim;
    if (!this.#acceptsTestKeys && testKeys.includes(keyid)) return invalid('test-key');
    if (expiresMs <= createdMs || expiresMs - createdMs > this.#lifetimeMaxMs) return invalid('lives-too-long');
    if (createdMs > nowMs + CLOCK_SKEW_MS) return invalid('not-yet');
    if (expiresMs <= nowMs - CLOCK_SKEW_MS) return invalid('expired');
    const text = signedText(request, claim.components, claim.ending);
    if (text === null) return invalid('component-missing');
    const key = this.#keys.find(directory, keyid, nowMs);
    if (key === undefined || key === null) {
      return unverified(key === null ? 'key-not-listed' : 'keys-unknown', { directory, agent, keyid });
    }
    if (algorithm !== null && algorithm !== key.algorithm) return invalid('algorithm');
    const { checked } = claim;
    if (checked?.text === text && checked.key === key.key) return checked.outcome;
    return verify(claim, text, key);
  }
}

async function verify(claim: SignatureClaim & { checked?: Checked }, text: string, { key, algorithm }: AgentKey) {
  const parameters = algorithm === 'ed25519' ? { name: 'Ed25519' } : { name: 'RSA-PSS', saltLength: 64 };
  const holds = await crypto.subtle.verify(parameters, key, claim.signature, encodeUtf8(text)).catch(() => false);
  const outcome = holds ? verified(claim) : invalid('signature');
  claim.checked = { text, key, outcome };
  return outcome;
}

function verified({ agent, directory, keyid, label, nonce, expiresMs }: SignatureClaim): VerifiedAgent {
  return { outcome: 'verified', agent, directory, keyid, label, nonce, expiresAtMs: expiresMs };
}

/** Of several signatures: one that holds, else one that is wrong. */
function foremost(found: readonly SignatureOutcome[]): SignatureOutcome {
  return found.find(isOutcome('verified')) ?? found.find(isOutcome('invalid')) ?? found[0]!;
}

const isOutcome =
  (outcome: SignatureOutcome['outcome']) =>
  (found: SignatureOutcome): boolean =>
    found.outcome === outcome;
