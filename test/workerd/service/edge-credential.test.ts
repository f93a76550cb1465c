/** The client JWT is the only credential of an edge: everything but a valid one is 401. */
import { base64url, createLocalJWKSet, decodeJwt, jwtVerify, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { edgeConfig, edgeSession } from '../../../src/contract/edge/edge-responses.ts';
import { READS_QUERY, configFormats } from '../../../src/contract/edge/formats.ts';
import { failed } from '../../../src/result.ts';
import { verifySessionJwt } from '../../../src/risk/session-token.ts';
import { authenticateEdge } from '../../../src/service/http/authenticate.ts';
import { signingKey } from '../../../src/store/keys/signing-keys.ts';
import { later, testNow } from '../../support/clock.ts';
import { earnSession } from '../../support/session.ts';
import firstConfig from '../../fixtures/edge-formats/GHCONFIG1.json';
import { call, newAccount, send, serviceEnv, serviceUrl } from './service-under-test.ts';

let names = 0;
async function newInstance() {
  names += 1;
  const account = await newAccount();
  const instance = await call(account.token, '/protect/instances/create', {
    name: 'Edge',
    cname: `edge${names}.example.org`,
    globalSiteKey: account.site.siteKey,
  });
  const issued = await call(account.token, '/protect/client-jwt/generate', {
    protectInstanceId: instance.body.id,
    expiresInWeeks: 0,
  });
  return { ...account, instanceId: instance.body.id as string, issued: issued.body };
}

const visitor = {
  ip: '192.0.2.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0',
  asn: 64496,
  country: 'DE',
  ja4: null,
  ipCategories: [],
  requestId: 'r1',
  host: 'example.org',
};

describe('issuing a client JWT', () => {
  test('for 0 weeks means a hundred years, with the documented claims', async () => {
    const { issued, instanceId } = await newInstance();
    const claims = decodeJwt(issued.clientJwt);
    expect(claims).toMatchObject({ iss: serviceUrl, sub: instanceId, aud: 'protect-edge', jti: issued.jti });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(100 * 365 * 24 * 3600);
    expect(issued.expiresAt).toBe((claims.exp ?? 0) * 1000);
  });

  test('makes one that the published JWKS verifies', async () => {
    const { issued } = await newInstance();
    const response = await send('/.well-known/jwks.json');
    const { payload } = await jwtVerify(issued.clientJwt, createLocalJWKSet(await response.json()), {
      audience: 'protect-edge',
    });
    expect(payload.jti).toBe(issued.jti);
  });

  test('in two isolates that need the first key at once uses one key', async () => {
    const isolates = Array.from({ length: 4 }, () => ({
      ...serviceEnv,
      DB: Object.create(serviceEnv.DB) as D1Database,
    }));
    const keys = await Promise.all(isolates.map((env) => signingKey(env, 'client-jwt', testNow())));
    expect(new Set(keys.map((key) => key.kid)).size).toBe(1);
  });
});

describe('the configuration', () => {
  test('has policy, site and keys, and fits its schema', async () => {
    const { issued, instanceId, site } = await newInstance();
    const { status, body } = await call(issued.clientJwt, '/edge/v1/config', undefined, 'GET');
    expect(status).toBe(200);
    const config = edgeConfig.parse(body);
    expect(config).toMatchObject({ instanceId, siteKey: site.siteKey, secretKey: site.secretKey });
    const { current, previous } = config.keys;
    const all = [current, previous].flatMap((set) => [set?.clearance, set?.session, set?.seal, set?.originSignature]);
    expect(new Set(all).size).toBe(8);
  });

  test('has every field of the first release, in a value of the same type', async () => {
    const { issued } = await newInstance();
    const { body } = await call(issued.clientJwt, '/edge/v1/config', undefined, 'GET');
    const typesOf = (value: object) => Object.entries(value).map(([key, one]) => `${key}: ${typeof one}`);
    // Where an instance has none, it is absent.
    const { policySet: _, ...fields } = firstConfig;
    expect(typesOf(body)).toEqual(expect.arrayContaining(typesOf(fields)));
    expect(typesOf(body.policy)).toEqual(expect.arrayContaining(typesOf(firstConfig.policy)));
    expect(typesOf(body.site)).toEqual(expect.arrayContaining(typesOf(firstConfig.site)));
  });

  test.each([
    ['that says nothing', '', configFormats.at(-1)],
    ['that reads none of this release', '?reads=GHCONFIG99', configFormats.at(-1)],
    ['of this release', `?${READS_QUERY}`, configFormats[0]],
  ])('is in a format of the edge %s', async (_, query, format) => {
    const { issued } = await newInstance();
    const { body } = await call(issued.clientJwt, `/edge/v1/config${query}`, undefined, 'GET');
    const version = await call(issued.clientJwt, `/edge/v1/version${query}`, undefined, 'GET');
    expect([body.format, body.configVersion]).toEqual([format, version.body.configVersion]);
  });

  test('is 304 without a change, and a new version after one', async () => {
    const { issued, instanceId, token } = await newInstance();
    const headers = { authorization: `Bearer ${issued.clientJwt}` };
    const first = await send('/edge/v1/config', { headers });
    const etag = first.headers.get('etag') ?? '';
    const again = await send('/edge/v1/config', { headers: { ...headers, 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    await call(token, '/protect/instances/update', { id: instanceId, rollout: 10 });
    const changed = await send('/edge/v1/config', { headers: { ...headers, 'if-none-match': etag } });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
  });
});

async function open(jwt: string, body: object) {
  const answer = await earnSession((page) => call(jwt, '/edge/v1/sessions', { ...body, page }));
  expect(answer.status).toBe(200);
  return edgeSession.parse(answer.body);
}

describe('a session', () => {
  test('has a JWT that verifies with the key in the configuration', async () => {
    const { issued, instanceId } = await newInstance();
    const session = await open(issued.clientJwt, { visitor });
    const config = (await call(issued.clientJwt, '/edge/v1/config', undefined, 'GET')).body;
    const keyOf = (kid: string) =>
      [config.keys.current, config.keys.previous]
        .filter((set) => set.kid === kid)
        .map((set) => base64url.decode(set.session))[0] ?? null;
    const verified = await verifySessionJwt(session.jwt, keyOf, instanceId, testNow());
    expect(verified).toMatchObject({ ok: true, value: { jti: session.jti, sub: instanceId } });
    expect(session.jwtExpiresAt - testNow()).toBeLessThanOrEqual(300_000);
    expect(session.expiresAt - testNow()).toBeGreaterThan(86_000_000);
    expect(await verifySessionJwt(session.jwt, keyOf, 'another', testNow())).toEqual(failed('malformed'));
    expect(await verifySessionJwt(session.jwt, keyOf, instanceId, testNow() + 400_000)).toEqual(failed('expired'));
  });

  test('stays the same with a renewed JWT', async () => {
    const { issued } = await newInstance();
    const session = await open(issued.clientJwt, { visitor });
    const renewed = await open(issued.clientJwt, { visitor: { ...visitor, ip: '192.0.2.200' }, jwt: session.jwt });
    expect([renewed.jti, renewed.expiresAt]).toEqual([session.jti, session.expiresAt]);
  });

  test('is a new one for a JWT copied to another network or browser', async () => {
    const { issued } = await newInstance();
    const session = await open(issued.clientJwt, { visitor });
    for (const other of [
      { ...visitor, ip: '198.51.100.7' },
      { ...visitor, userAgent: 'curl/8' },
    ]) {
      const renewed = await open(issued.clientJwt, { visitor: other, jwt: session.jwt });
      expect(renewed.jti).not.toBe(session.jti);
    }
  });
});

describe('an edge call', () => {
  const edgeCalls = [
    ['GET', '/edge/v1/config'],
    ['GET', '/edge/v1/version'],
    ['POST', '/edge/v1/sessions'],
  ] as const;

  async function expectRefused(token: string | null, key: string) {
    for (const [method, path] of edgeCalls) {
      const { status, body } = await call(token, path, method === 'POST' ? { visitor } : undefined, method);
      expect([path, status, body.error.key]).toEqual([path, 401, key]);
    }
  }

  test('without a bearer token is refused', () => expectRefused(null, 'API.MISSING_AUTHORIZATION_HEADER'));
  test('with an API key is refused', async () => expectRefused((await newInstance()).token, 'API.UNAUTHORIZED'));
  test('with garbage is refused', () => expectRefused('abc', 'API.UNAUTHORIZED'));

  test('with a revoked JWT is refused from the next call on', async () => {
    const { issued, token, instanceId } = await newInstance();
    expect((await call(issued.clientJwt, '/edge/v1/config', undefined, 'GET')).status).toBe(200);
    await call(token, '/protect/client-jwt/revoke', { protectInstanceId: instanceId, jti: issued.jti });
    await expectRefused(issued.clientJwt, 'API.UNAUTHORIZED');
    const listed = await call(token, '/protect/client-jwt/list', { protectInstanceId: instanceId });
    expect(listed.body.clientJwts[0]).toMatchObject({ jti: issued.jti, status: 'revoked' });
  });

  test('with a valid JWT costs one database query', async () => {
    const { issued } = await newInstance();
    let queries = 0;
    const database = {
      prepare(sql: string) {
        queries += 1;
        return serviceEnv.DB.prepare(sql);
      },
    };
    const request = new Request(serviceUrl, { headers: { authorization: `Bearer ${issued.clientJwt}` } });
    const store = { ...serviceEnv, DB: database as unknown as D1Database };
    const authenticate = () => authenticateEdge({ store, serviceUrl, request, nowMs: testNow() });
    // An isolate reads the signing keys once.
    await authenticate();
    queries = 0;
    for (let turn = 1; turn <= 3; turn++) {
      await authenticate();
      expect(queries).toBe(turn);
    }
  });

  test('with a JWT from before clientJwtsRevokedBefore is refused, and with a later one accepted', async () => {
    const { issued, token, instanceId } = await newInstance();
    await call(token, '/protect/instances/update', { id: instanceId, clientJwtsRevokedBefore: testNow() });
    await expectRefused(issued.clientJwt, 'API.UNAUTHORIZED');
    later(1);
    const fresh = await call(token, '/protect/client-jwt/generate', {
      protectInstanceId: instanceId,
      expiresInWeeks: 1,
    });
    expect((await call(fresh.body.clientJwt, '/edge/v1/config', undefined, 'GET')).status).toBe(200);
  });

  test('with the JWT of a deleted instance is refused', async () => {
    const { issued, token, instanceId } = await newInstance();
    await call(token, '/protect/instances/delete', { id: instanceId });
    await expectRefused(issued.clientJwt, 'API.UNAUTHORIZED');
  });

  test('with a JWT of another instance, expiry, audience or issuer is refused', async () => {
    const { issued, instanceId } = await newInstance();
    const other = await newInstance();
    const key = await signingKey(serviceEnv, 'client-jwt', testNow());
    const nowSeconds = Math.floor(testNow() / 1000);
    const make = (claims: { sub?: string; aud?: string; iss?: string; exp?: number; jti?: string }) =>
      new SignJWT({ jti: issued.jti, ...claims })
        .setProtectedHeader({ alg: 'EdDSA', kid: key.kid })
        .setSubject(claims.sub ?? instanceId)
        .setAudience(claims.aud ?? 'protect-edge')
        .setIssuer(claims.iss ?? serviceUrl)
        .setIssuedAt(nowSeconds - 100)
        .setExpirationTime(claims.exp ?? nowSeconds + 100)
        .sign(key.privateKey);
    expect((await call(await make({}), '/edge/v1/config', undefined, 'GET')).status).toBe(200);
    await expectRefused(await make({ sub: other.instanceId }), 'API.UNAUTHORIZED');
    await expectRefused(await make({ exp: nowSeconds - 10 }), 'API.KEY_EXPIRED');
    await expectRefused(await make({ aud: 'other' }), 'API.UNAUTHORIZED');
    await expectRefused(await make({ iss: 'https://evil.example' }), 'API.UNAUTHORIZED');
    await expectRefused(await make({ jti: 'unregistered' }), 'API.UNAUTHORIZED');
  });

  test('with a JWT signed with another key under our kid, or with an HMAC over the public key, is refused', async () => {
    const { issued, instanceId } = await newInstance();
    const ours = await signingKey(serviceEnv, 'client-jwt', testNow());
    const foreign = (await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify'])) as CryptoKeyPair;
    const claims = { jti: issued.jti, sub: instanceId, aud: 'protect-edge', iss: serviceUrl, iat: 1, exp: 4102444800 };
    const forged = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', kid: ours.kid })
      .sign(foreign.privateKey);
    await expectRefused(forged, 'API.UNAUTHORIZED');
    const confused = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: ours.kid })
      .sign(ours.publicKeyRaw);
    await expectRefused(confused, 'API.UNAUTHORIZED');
  });
});

describe('the keys that an origin checks the edge with', () => {
  test('are those that the edge signs with, one for each week', async () => {
    const { issued, token, instanceId } = await newInstance();
    const config = await call(issued.clientJwt, '/edge/v1/config', undefined, 'GET');
    const { body } = await call(token, '/protect/origin-keys', { protectInstanceId: instanceId, weeks: 3 });
    const keys = body.keys as { kid: string; key: string; validFrom: number; validUntil: number }[];
    expect(keys.map(({ kid }) => kid).slice(0, 2)).toEqual([
      config.body.keys.previous.kid,
      config.body.keys.current.kid,
    ]);
    expect(keys[1]?.key).toBe(config.body.keys.current.originSignature);
    expect(new Set(keys.map(({ key }) => key)).size).toBe(5);
    expect(keys[1]!.validFrom).toBeLessThanOrEqual(testNow());
    expect(keys[2]!.validFrom).toBeGreaterThan(testNow());
  });

  test('are returned to the owner of the instance only', async () => {
    const { instanceId } = await newInstance();
    const other = await newInstance();
    expect((await call(other.token, '/protect/origin-keys', { protectInstanceId: instanceId })).status).toBe(404);
  });
});
