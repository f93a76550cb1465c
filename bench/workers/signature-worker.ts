/**
 * The Worker of `npm run bench -- signatures`: checks the same signed requests as the edge would. The bench measures the
 * processor time of the process, because a Worker's clock stands still between I/O.
 */
import { AgentKeys } from '../../src/bots/signatures/agent-keys.ts';
import { SignatureCheck } from '../../src/bots/signatures/check-signature.ts';
import type { SignedRequest } from '../../src/bots/signatures/covered-components.ts';
import type { BotKey } from '../../src/contract/edge/bot-calls.ts';

export interface SignatureWork {
  directory: string;
  key: BotKey;
  url: string;
  /** Headers of each request. */
  requests: readonly Readonly<Record<string, string>>[];
  /** `prepare` checks nothing: what it takes is not the checks'. */
  part: 'prepare' | 'first' | 'again' | 'unsigned' | 'verify-alone';
  times: number;
}

export default {
  async fetch(call: Request): Promise<Response> {
    const { directory, key, url, requests, part, times }: SignatureWork = await call.json();
    const nowMs = Date.now();
    const keys = new AgentKeys();
    await keys.learn(directory, { isFetched: true, keys: [key], maxAgeSeconds: 3600 }, nowMs);
    const check = new SignatureCheck(keys);
    const signed = requests.map((headers) => factsOf(new Request(url, { headers })));
    const unsigned = factsOf(new Request(url));
    let verified = 0;
    const count = (outcome: string): void => {
      if (outcome === 'verified') verified++;
    };
    if (part === 'first') for (const request of signed) count((await check.check(request, nowMs)).outcome);
    if (part === 'again') {
      count((await check.check(signed[0]!, nowMs)).outcome);
      for (let i = 0; i < times; i++) void check.check(signed[0]!, nowMs);
    }
    if (part === 'unsigned') for (let i = 0; i < times; i++) void check.check(unsigned, nowMs);
    if (part === 'verify-alone') await verifyAlone(keys.find(directory, key.keyid, nowMs)!.key, signed.length);
    return Response.json({ verified });
  },
};

/** As the gate has them: it reads method and URL for every request. */
function factsOf({ method, url, headers }: Request): SignedRequest {
  return { method, url, headers };
}

/** WebCrypto without anything around it: the floor. */
async function verifyAlone(key: CryptoKey, times: number): Promise<void> {
  const parameters = { ...key.algorithm, saltLength: 64 };
  const signature = new Uint8Array(key.algorithm.name === 'Ed25519' ? 64 : 256);
  for (let i = 0; i < times; i++) await crypto.subtle.verify(parameters, key, signature, new Uint8Array(400));
}
