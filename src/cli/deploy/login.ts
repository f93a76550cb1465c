/** Who is signed in, as wrangler knows it: `CLOUDFLARE_API_TOKEN`, or the login of `wrangler login`, renewed by wrangler. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json.ts';
import { OperatorError } from '../operator-error.ts';
import { ApiError, type CloudflareApi } from './cloudflare-api.ts';

const ANSWERS_WITHIN_MS = 60_000;
const credentials = z.object({ type: z.string(), token: z.string() });

export const wranglerProgram = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin/wrangler.js');

/** @throws OperatorError when nobody is signed in. */
export async function loginToken(): Promise<string> {
  const own = process.env['CLOUDFLARE_API_TOKEN'];
  if (own) return own;
  const said = await new Promise<string>((done) => {
    const env = { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false' };
    execFile(
      process.execPath,
      [wranglerProgram(), 'auth', 'token', '--json'],
      { env, timeout: ANSWERS_WITHIN_MS },
      // The output has the token, so it appears in no message.
      (_, stdout) => done(stdout),
    );
  });
  const parsed = credentials.safeParse(parseJson(said.slice(Math.max(0, said.indexOf('{')))));
  if (parsed.success) return parsed.data.token;
  throw new OperatorError(
    'You are not logged in to Cloudflare. Run "npx wrangler login", or set CLOUDFLARE_API_TOKEN, and run the command again.',
  );
}

/** The email address of the login; `null` for a token that does not show it. */
export async function loginEmail(api: CloudflareApi): Promise<string | null> {
  try {
    return (await api.get(z.object({ email: z.optional(z.nullable(z.string())) }), '/user')).email ?? null;
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0 && error.status < 500) return null;
    throw error;
  }
}

/** For commands that name no site. @throws OperatorError when the login has several accounts and none is chosen. */
export async function onlyAccount(api: CloudflareApi): Promise<string> {
  const chosen = process.env['CLOUDFLARE_ACCOUNT_ID'];
  if (chosen) return chosen;
  const accounts = await api.list(z.object({ id: z.string(), name: z.string() }), '/accounts');
  const [first] = accounts;
  if (first !== undefined && accounts.length === 1) return first.id;
  const listed = accounts.map(({ id, name }) => `${id} (${name})`).join(', ');
  throw new OperatorError(
    accounts.length === 0
      ? 'The login has no account that it can list. Set CLOUDFLARE_ACCOUNT_ID to the account of the deployment.'
      : `The login has several accounts. Set CLOUDFLARE_ACCOUNT_ID to one of: ${listed}.`,
  );
}
