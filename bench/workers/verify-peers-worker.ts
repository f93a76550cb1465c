/**
 * The Worker of `npm run bench -- verify` that checks with a peer's library what a visitor brings. Each path does what
 * the peer's guide has a backend do. Stores that return at once stand for the memory that the guides leave to the
 * backend: a check that spends what it checks could not be sent again.
 */
import Cap from '@cap.js/server';
import { type Payload, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';

const SECRETS = { hmacSignatureSecret: 'bench', hmacKeySignatureSecret: 'bench-key' };
const DAY_MS = 86_400_000;

let cap: Cap | undefined;

function capOfIsolate(): Cap {
  const nothing = async (): Promise<void> => {};
  cap ??= new Cap({
    noFSState: true,
    disableAutoCleanup: true,
    storage: {
      challenges: {
        store: nothing,
        read: async () => ({ challenge: { c: 50, s: 32, d: 4 }, expires: Date.now() + DAY_MS }),
        delete: nothing,
        deleteExpired: nothing,
      },
      tokens: { store: nothing, get: async () => Date.now() + DAY_MS, delete: nothing, deleteExpired: nothing },
    },
  });
  return cap;
}

async function check(path: string, body: unknown): Promise<boolean> {
  if (path === '/altcha') {
    const payload = JSON.parse(atob((body as { altcha: string }).altcha)) as Payload;
    return (await verifySolution({ ...payload, deriveKey, ...SECRETS })).verified;
  }
  if (path === '/cap/redeem') {
    return (await capOfIsolate().redeemChallenge(body as { token: string; solutions: number[] })).success;
  }
  if (path === '/cap/validate') return (await capOfIsolate().validateToken((body as { token: string }).token)).success;
  return true;
}

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    return Response.json({ verified: await check(pathname, await request.json()) });
  },
};
