/**
 * A token is valid once. An idempotency key repeats the first response for ten minutes, so a backend that computes the
 * key from the token verifies a bot's copies as well. These clients send tokens again, and tokens whose time is over.
 */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { quickRules } from '../e2e/edge-visitor.ts';
import { type Answer, boughtToken, call, newVisitor, page } from '../support/gate.ts';
import { expectRows } from '../support/rows.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack({ edgeVars: quickRules });
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
const hashed = (algorithm: string, text: string, encoding: 'hex' | 'base64' | 'base64url') =>
  createHash(algorithm).update(text).digest(encoding);

beforeAll(async () => {
  const pathRules = [{ pattern: '/echo/guarded/**', action: 'challenge' }];
  await manage(stack(), '/protect/instances/update', { id: stack().instanceId, pathRules });
  await eventually(
    () => page(stack(), newVisitor(stack()), '/echo/guarded/x'),
    ({ status }) => status === 403,
  );
});

const newToken = () => boughtToken(stack(), newVisitor(stack()), { action: 'contact' });
const verify = (token: string, more: object = {}): Promise<Answer> =>
  call(`${stack().serviceUrl}/siteverify`, {}, { secret: stack().secretKey, token, ...more });

describe('an idempotency key', () => {
  test('that is made from the token is refused with a reason, and spends nothing', () =>
    expectRows<[string, (token: string) => string]>(
      [
        ['the beginning of the token', (token) => token.slice(0, 64)],
        ['the end of the token', (token) => token.slice(-128)],
        ['some characters of the token', (token) => token.slice(100, 116)],
        ['its SHA-256', (token) => hashed('sha256', token, 'hex')],
        ['its SHA-256 in capitals', (token) => hashed('sha256', token, 'hex').toUpperCase()],
        ['its SHA-256 in base64', (token) => hashed('sha256', token, 'base64')],
        ['its SHA-256 in base64url', (token) => hashed('sha256', token, 'base64url')],
        ['its MD5', (token) => hashed('md5', token, 'hex')],
        ['its SHA-1', (token) => hashed('sha1', token, 'hex')],
        ['its SHA-512', (token) => hashed('sha512', token, 'hex')],
        ['a hash that is cut', (token) => hashed('sha256', token, 'hex').slice(0, 32)],
        ['a hash in the shape of a UUID', (token) => asUuid(hashed('sha256', token, 'hex'))],
        ['the hash of the form’s field', (token) => hashed('sha256', JSON.stringify({ token }), 'hex')],
      ],
      async ([, keyOf]) => {
        const token = await newToken();
        const idempotencyKey = keyOf(token);
        for (const sent of [token, JSON.stringify({ token }), ` ${token}\n`]) {
          const { status, body } = await verify(sent, { idempotencyKey });
          expect(status).toBe(400);
          expect(JSON.stringify(body)).toContain('idempotencyKey');
          expect(JSON.stringify(body)).not.toContain(token.slice(0, 32));
        }
        expect((await verify(token)).body).toMatchObject({ verified: true });
      },
    ));

  test('of a client of another product is refused in its words', async () => {
    const token = await newToken();
    for (const path of ['/turnstile/v0/siteverify', '/hcaptcha/siteverify', '/recaptcha/api/siteverify']) {
      const answer = await call(
        `${stack().serviceUrl}${path}`,
        {},
        {
          secret: stack().secretKey,
          response: token,
          idempotency_key: hashed('sha256', token, 'hex'),
        },
      );
      expect(answer).toMatchObject({ status: 200, body: { success: false, 'error-codes': ['bad-request'] } });
    }
    expect((await verify(token)).body).toMatchObject({ verified: true });
  });

  test('that is random repeats its own response, and a copy of the token with another key gets nothing', async () => {
    const token = await newToken();
    const idempotencyKey = crypto.randomUUID();
    const first = await verify(token, { idempotencyKey });
    expect(first.body).toMatchObject({ verified: true });
    expect((await verify(token, { idempotencyKey })).body).toEqual(first.body);
    const copies = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        verify(token, index % 2 === 0 ? {} : { idempotencyKey: crypto.randomUUID() }),
      ),
    );
    for (const { body } of copies) expect(body).toMatchObject({ verified: false });
  });
});

describe('a form whose token', () => {
  const submit = (headers: Record<string, string>, token: string, path: string) =>
    page(stack(), headers, path, {
      method: 'POST',
      headers: FORM,
      body: new URLSearchParams({ 'captcha-response': token }),
    });
  const shown = async (response: Response) =>
    (await response.text()).replaceAll(/<template[^]*?<\/template>/g, '').replaceAll(/<noscript[^]*?<\/noscript>/g, '');

  test('was used before is held, and says that the check failed', async () => {
    const visitor = newVisitor(stack());
    const token = await boughtToken(stack(), visitor, { action: 'contact' });
    expect((await submit(visitor, token, '/echo/guarded/once')).status).toBe(200);
    const again = await submit(visitor, token, '/echo/guarded/once');
    expect(again.status).toBe(403);
    expect(await shown(again)).toContain('The check failed.');
  });

  test('has expired is held, and says that the check took too long', async () => {
    const settings = { verifiedTimeout: 1000 };
    await manage(stack(), '/sites/update', { siteKey: stack().siteKey, settings });
    const visitor = newVisitor(stack());
    // Tokens that were bought before the setting has spread live longer.
    const tokens: string[] = [];
    const expired = await eventually(
      async () => {
        tokens.push(await boughtToken(stack(), visitor, { action: 'contact' }));
        for (const token of tokens) {
          // The wrong host name is reported only while the token has not expired, and spends nothing.
          const { body } = await verify(token, { hostname: 'elsewhere.example' });
          if (body['reason'] === 'API.TIMESTAMP_TOO_OLD') return token;
        }
        return null;
      },
      (token) => token !== null,
    );
    const answer = await submit(visitor, expired!, '/echo/guarded/late');
    expect(answer.status).toBe(403);
    const html = await shown(answer);
    expect(html).toContain('The check took too long.');
    expect(html).toContain('name="seal"');
  });
});

function asUuid(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
