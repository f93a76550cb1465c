/** One server for all widgets, so that none has the faster one. It notes all that it sends. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import { createChallenge, randomInt } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { buildClient } from '../../scripts/build-client.ts';
import { encodeBase64url } from '../../src/bytes/base64url.ts';
import { generateRswKey, levelOf } from '../../src/captcha/pow/rsw-key.ts';
import { RswMinter } from '../../src/captcha/pow/rsw-mint.ts';

const DEFAULT_POW_DIFFICULTY = 4;
/** The defaults that ALTCHA documents. */
const ALTCHA_COST = 5000;
const ALTCHA_COUNTER = [5000, 10_000] as const;
/** An empty module. Cap compiles one before any solve, but its RSW does not use it. */
const EMPTY_WASM = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
const ALTCHA_SECRET = 'bench-only';

/** What a visit fetched after its page, by path, in the order of the requests. */
export type Fetched = { path: string; body: Uint8Array | string }[];

export function gzippedBytes({ body }: Fetched[number]): number {
  return gzipSync(body, { level: 9 }).length;
}

export async function startServer(fetched: Fetched): Promise<Server> {
  const assets = await buildClient();
  const minter = new RswMinter(await generateRswKey(0));
  const files: Record<string, Buffer> = {
    '/cap/widget.js': readFileSync(new URL(import.meta.resolve('@cap.js/widget'))),
    '/altcha/widget.js': readFileSync(new URL('altcha.min.js', import.meta.resolve('altcha'))),
  };
  for (const [name, { body }] of Object.entries(assets)) files[`/__protect/${name}`] = Buffer.from(body);

  async function responseTo(path: string): Promise<object> {
    const { t, x } = minter.mint(levelOf(DEFAULT_POW_DIFFICULTY));
    const expiresAt = Date.now() + 120_000;
    switch (path) {
      case '/__protect/challenge': {
        const pow = { lane: 'rsw', t, n: encodeBase64url(minter.modulus), x: encodeBase64url(x) };
        return { jti: 'j', kind: 'pow', challenge: 'c', expiresAt, pow };
      }
      case '/__protect/solution':
        return { verified: true, token: 'token', expiresAt };
      case '/cap/challenge': {
        const payload = { N: hex(minter.modulus), x: hex(x), t };
        return { format: 2, challenges: [{ protocol: 'rsw', payload }], token: 'c', expires: expiresAt };
      }
      case '/cap/redeem':
        return { success: true, token: 'token', expires: expiresAt };
      case '/altcha/challenge':
        return createChallenge({
          algorithm: 'PBKDF2/SHA-256',
          cost: ALTCHA_COST,
          counter: randomInt(...ALTCHA_COUNTER),
          deriveKey,
          hmacSignatureSecret: ALTCHA_SECRET,
          hmacKeySignatureSecret: ALTCHA_SECRET,
        });
      default:
        return {};
    }
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const file = files[url.pathname];
    const send = (type: string, body: Uint8Array | string): void => {
      if (url.pathname !== '/') fetched.push({ path: url.pathname, body });
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    };
    request.resume();
    if (file !== undefined) send('text/javascript', file);
    else if (url.pathname === '/') {
      const markup = decodeURIComponent(url.search.slice(1));
      send(
        'text/html',
        `<!doctype html><html lang="en"><title>bench</title><link rel="icon" href="data:,"><body>${markup}`,
      );
    } else if (url.pathname.endsWith('.wasm')) send('application/wasm', EMPTY_WASM);
    else void responseTo(url.pathname).then((body) => send('application/json', JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function hex(value: Uint8Array): string {
  return Buffer.from(value).toString('hex');
}
