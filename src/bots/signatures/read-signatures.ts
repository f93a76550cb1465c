/**
 * The signatures of a request, read from its three fields and judged by everything but clock, key and request. All of
 * it is the sender's text, so lengths and counts are bounded before anything is done per entry.
 *
 * Four ways to name the agent are in use: a bare string, a dictionary whose member is an origin, one whose member is the
 * address of a key set, and one whose member says `type=directory`. The covered member's key is signed and the label of
 * a signature is not, so that the key decides which agent signed.
 */
import { type AgentAddress, agentAddress } from './agent-address.ts';
import { type Component, componentOf, memberText } from './covered-components.ts';
import { invalid, type InvalidReason, type SignatureOutcome, unverified } from './signature-outcome.ts';
import { isInnerList } from 'structured-headers';
import {
  bytesOf,
  type Dictionary,
  FIELD_MAX_CHARS,
  type InnerList,
  integerOf,
  isToken,
  type Item,
  parseDictionary,
  parseItem,
  stringOf,
  serialized,
} from './structured-fields.ts';

export interface SignatureFields {
  input: string;
  signature: string;
  /** `Signature-Agent`. */
  agent: string | null;
}

/** A signature that clock, key and request decide. */
export interface SignatureClaim extends AgentAddress {
  label: string;
  keyid: string;
  /** `null` where the signature does not say it, so that the key does. */
  algorithm: string | null;
  nonce: string | null;
  createdMs: number;
  expiresMs: number;
  components: readonly Component[];
  /** The last line of the signed text. */
  ending: string;
  signature: Uint8Array<ArrayBuffer>;
}

export type ReadSignature = SignatureClaim | SignatureOutcome;

export const SIGNATURE_TAG = 'web-bot-auth';
const LABELS_MAX = 8;
/** Two are in use: of the agent and of the browser that it uses. */
const SIGNATURES_MAX = 3;
const COMPONENTS_MAX = 16;
const NONCE_MAX_CHARS = 256;
const algorithms = ['ed25519', 'rsa-pss-sha512'];

/** One result per signature of this profile; none for a request without one. */
export function readSignatures({ input, signature, agent }: SignatureFields): readonly ReadSignature[] {
  if (Math.max(input.length, signature.length, agent?.length ?? 0) > FIELD_MAX_CHARS) return [invalid('too-large')];
  try {
    const inputs = parseDictionary(input);
    const signatures = parseDictionary(signature);
    if (Math.max(inputs.size, signatures.size) > LABELS_MAX) return [invalid('too-large')];
    const agents = agent === null ? null : readAgents(agent);
    const ours = [...inputs].filter(([, member]) => stringOf(member[1].get('tag')) === SIGNATURE_TAG);
    if (ours.length > SIGNATURES_MAX) return [invalid('too-large')];
    const fields = new Map([
      ['signature-input', input],
      ['signature', signature],
      ['signature-agent', agent],
    ]);
    return ours.map(([label, member]) => {
      const bytes = bytesOf(signatures.get(label));
      if (!isInnerList(member) || bytes === null) return invalid('unreadable');
      return readOne(label, member, bytes, agents, fields);
    });
  } catch (error) {
    return [invalid(error instanceof RangeError ? 'label-repeated' : 'unreadable')];
  }
}

/** The members of a dictionary, or the one item of the older form. */
function readAgents(text: string): Dictionary | Item {
  return text.trimStart().startsWith('"') ? parseItem(text) : parseDictionary(text);
}

function readOne(
  label: string,
  covered: InnerList,
  signature: Uint8Array<ArrayBuffer>,
  agents: Dictionary | Item | null,
  fields: ReadonlyMap<string, string | null>,
): ReadSignature {
  const [items, parameters] = covered;
  const keyid = stringOf(parameters.get('keyid'));
  const createdMs = integerOf(parameters.get('created')) * 1000;
  const expiresMs = integerOf(parameters.get('expires')) * 1000;
  const nonce = stringOf(parameters.get('nonce'));
  const algorithm = stringOf(parameters.get('alg'));
  const isOfForm = (name: string, value: string | null): boolean => value !== null || !parameters.has(name);
  if (!/^[\w-]{43}$/.test(keyid ?? '') || Number.isNaN(createdMs + expiresMs)) return invalid('parameters');
  if (!isOfForm('nonce', nonce) || !isOfForm('alg', algorithm)) return invalid('parameters');
  if ((nonce?.length ?? 0) > NONCE_MAX_CHARS || items.length > COMPONENTS_MAX) return invalid('too-large');
  if (algorithm !== null && !algorithms.includes(algorithm)) {
    // Everybody who can check a shared secret can also sign with it.
    return algorithm.startsWith('hmac') ? invalid('algorithm') : unverified('algorithm-unknown');
  }

  const components: Component[] = [];
  for (const item of items) {
    const component = componentOf(item);
    if (component === null) return unverified('component-unknown');
    const { name, key } = component;
    if (components.some((other) => other.name === name && other.key === key)) return invalid('component-repeated');
    const own = fields.get(name);
    if (key !== null && own !== undefined) {
      const value = own === null ? null : memberText(own, key);
      if (value === null) return own === null ? unverified('agent-missing') : invalid('component-missing');
      component.value = value;
    }
    components.push(component);
  }
  if (!components.some(({ name }) => name === '@authority' || name === '@target-uri')) {
    return invalid('target-not-covered');
  }
  const named = agentOf(label, components, agents);
  if (named === null) return unverified('agent-missing');
  if (typeof named === 'string') return invalid(named);
  const ending = `"@signature-params": ${serialized(covered)}`;
  return { ...named, label, keyid: keyid!, algorithm, nonce, createdMs, expiresMs, components, ending, signature };
}

/** `null`: the request names no agent that counts. */
function agentOf(
  label: string,
  components: readonly Component[],
  agents: Dictionary | Item | null,
): AgentAddress | InvalidReason | null {
  if (agents === null) return null;
  const covered = components.filter(({ name }) => name === 'signature-agent');
  if (covered.length === 0) return 'agent-not-covered';
  const keys = covered.map(({ key }) => key);
  const isWhole = keys.includes(null);
  let member: Item | InnerList | undefined;
  if (agents instanceof Map) {
    // A proxy may have given the signature another label, which is not signed.
    const key = isWhole || keys.includes(label) || keys.length > 1 ? label : keys[0]!;
    member = isWhole || keys.includes(key) ? agents.get(key) : undefined;
  } else if (isWhole) {
    member = agents;
  }
  if (member === undefined) return 'agent-ambiguous';
  const [bare, parameters] = member;
  const value = stringOf(bare);
  if (value === null) return 'unreadable';
  const isOrigin = parameters.size === 1 && isToken(parameters.get('type'), 'directory');
  if (parameters.size > 0 && !isOrigin) return null;
  const address = agentAddress(value);
  if (address === null) return 'agent-not-https';
  return isOrigin && !/^https:\/\/[^/?]+\/?$/i.test(value) ? null : address;
}
