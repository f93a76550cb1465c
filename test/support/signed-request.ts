/**
 * Requests signed by `http-message-sig`, an implementation of RFC 9421 that shares no code with ours, and keys for them.
 */
import { createSignature, type SignatureComponent, webcrypto } from 'http-message-sig';
import type { BotKey } from '../../src/contract/edge/bot-calls.ts';

export interface AgentKeyPair {
  keyid: string;
  jwk: { kty: string; [name: string]: unknown };
  key: BotKey;
  privateKey: CryptoKey;
}

export interface Signing {
  url?: string;
  method?: string;
  label?: string;
  components?: readonly SignatureComponent[];
  /** `null` sends none. */
  agent?: string | null;
  headers?: Readonly<Record<string, string>>;
  /** Epoch milliseconds. */
  nowMs: number;
  lifetimeSeconds?: number;
  parameters?: Readonly<Record<string, string | number>>;
  without?: readonly string[];
}

const algorithms = {
  ed25519: { name: 'Ed25519' },
  rsa: { name: 'RSA-PSS', hash: 'SHA-512', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
};

export async function agentKeyPair(kind: keyof typeof algorithms = 'ed25519'): Promise<AgentKeyPair> {
  const pair = (await crypto.subtle.generateKey(algorithms[kind], true, ['sign', 'verify'])) as CryptoKeyPair;
  const { kty, crv, x, n, e } = (await crypto.subtle.exportKey('jwk', pair.publicKey)) as JsonWebKey & { kty: string };
  const jwk = kind === 'rsa' ? { e, kty, n } : { crv, kty, x };
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(jwk)));
  const keyid = Buffer.from(hash).toString('base64url');
  return { keyid, jwk: jwk as AgentKeyPair['jwk'], key: { keyid, ...jwk } as BotKey, privateKey: pair.privateKey };
}

/** The headers of a signed request, as an agent sends them. */
export async function signed(pair: AgentKeyPair, signing: Signing): Promise<Request> {
  const {
    label = 'sig1',
    nowMs,
    lifetimeSeconds = 300,
    method = 'GET',
    url = 'https://shop.example/page?q=1',
  } = signing;
  const agent = signing.agent === undefined ? `${label}="https://agent.test"` : signing.agent;
  const headers = new Headers(signing.headers);
  if (agent !== null) headers.set('signature-agent', agent);
  const request = new Request(url, { method, headers });
  const created = Math.floor(nowMs / 1000);
  const parameters: Record<string, string | number> = {
    created,
    expires: created + lifetimeSeconds,
    keyid: pair.keyid,
    tag: 'web-bot-auth',
    ...signing.parameters,
  };
  for (const name of signing.without ?? []) delete parameters[name];
  const components = signing.components ?? ['@authority', { name: 'signature-agent', parameters: { key: label } }];
  const fields = await createSignature(request, {
    label,
    components,
    parameters,
    signer: webcrypto.signer(pair.privateKey),
  });
  request.headers.set('signature-input', fields.signatureInput);
  request.headers.set('signature', fields.signature);
  return request;
}
