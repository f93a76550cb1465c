/**
 * An OpenID Connect issuer and an Access team on this machine, which lie where a test asks them to. The issuer checks
 * what a real one checks: client, redirect address, PKCE, and that a code is used once.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bodyOf } from './answering.ts';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { stackNow } from './clock.ts';

export interface IdTokenLies {
  email?: string | null;
  email_verified?: unknown;
  aud?: string;
  iss?: string;
  nonce?: string;
  /** Seconds from now. */
  exp?: number;
}

export interface FakeIssuer {
  url: string;
  clientId: string;
  clientSecret: string;
  /** Of the next sign-in. */
  says(claims: IdTokenLies): void;
  /** Signs somebody in at the issuer: from the address that the console gave to the one that leads back. */
  approve(authorizationUrl: string): URL;
  /** A JWT as Access adds it to a request. */
  accessJwt(claims?: Record<string, unknown>, key?: CryptoKey): Promise<string>;
  /** Answers at a path in place of the issuer, until it is called with `null`. */
  answersAt(path: string, answer: RequestListener | null): void;
  /** What the token endpoint refused. */
  refused: string[];
  close(): Promise<void>;
}

export async function startFakeIssuer(): Promise<FakeIssuer> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const clientId = 'gatehouse';
  const clientSecret = randomBytes(16).toString('base64url');
  const codes = new Map<string, URLSearchParams>();
  const refused: string[] = [];
  const answers = new Map<string, RequestListener>();
  let lies: IdTokenLies = {};
  let url = '';

  const json = (response: ServerResponse, body: object, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const idToken = (asked: URLSearchParams): Promise<string> => {
    const { exp = 300, iss = url, aud = clientId, nonce = asked.get('nonce'), ...rest } = lies;
    return new SignJWT({ sub: 'somebody', nonce, ...rest })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setIssuer(iss)
      .setAudience(aud)
      .setIssuedAt()
      .setExpirationTime(Math.floor(stackNow() / 1000) + exp)
      .sign(privateKey);
  };
  const token = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = new URLSearchParams((await bodyOf(request)).toString());
    const asked = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    // Both halves are form-encoded (RFC 6749, 2.3.1).
    const [, basic = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const client = Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent).join(':');
    const mistake =
      asked === undefined
        ? 'code'
        : challenge !== asked.get('code_challenge') || asked.get('code_challenge_method') !== 'S256'
          ? 'pkce'
          : form.get('redirect_uri') !== asked.get('redirect_uri')
            ? 'redirect_uri'
            : client === `${clientId}:${clientSecret}`
              ? null
              : 'client';
    if (asked === undefined || mistake !== null) {
      refused.push(mistake ?? 'code');
      return json(response, { error: 'invalid_grant' }, 400);
    }
    json(response, { access_token: 'opaque', token_type: 'Bearer', id_token: await idToken(asked) });
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', url);
    const other = answers.get(pathname);
    if (other !== undefined) return other(request, response);
    if (pathname === '/.well-known/openid-configuration') {
      return json(response, {
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/jwks`,
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      });
    }
    if (pathname === '/cdn-cgi/access/certs') return json(response, { keys: [jwk] });
    if (pathname === '/token') return void token(request, response).catch(() => response.destroy());
    json(response, {}, 404);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    clientId,
    clientSecret,
    refused,
    says: (claims) => void (lies = claims),
    answersAt: (path, answer) => void (answer === null ? answers.delete(path) : answers.set(path, answer)),
    approve(authorizationUrl) {
      const asked = new URL(authorizationUrl).searchParams;
      const code = randomBytes(16).toString('base64url');
      codes.set(code, asked);
      const back = new URL(asked.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', asked.get('state') ?? '');
      return back;
    },
    accessJwt: (claims = {}, key = privateKey) =>
      new SignJWT({ iss: url, aud: ['application'], email: 'owner@example.com', ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .setIssuedAt()
        .setExpirationTime(typeof claims['exp'] === 'number' ? claims['exp'] : '5m')
        .sign(key),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
