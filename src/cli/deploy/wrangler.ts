/**
 * What wrangler does for a deployment. `wrangler deploy` bundles a Worker, uploads it and connects routes, domains, queues
 * and schedules. Secrets travel in a file that only its owner can read and that is gone when wrangler has ended: arguments
 * are visible to everyone on the machine. Its login, which it renews itself, says who is signed in.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json.ts';
import { OperatorError } from '../failure.ts';
import { ApiError, type CloudflareApi } from './cloudflare-api.ts';
import { undoneWhenInterrupted } from './interruption.ts';
import type { WorkerFile } from './worker-files.ts';

const ENDS_WITHIN_MS = 300_000;
const OUTPUT_MAX_CHARS = 100_000;

export interface Upload {
  worker: WorkerFile;
  accountId: string;
  /** Omitted secrets stay as they are. */
  secrets: Readonly<Record<string, string>>;
  /** Variables that replace those of the file. */
  vars?: Readonly<Record<string, string>>;
}

export async function uploadWithWrangler({ worker, accountId, secrets, vars = {} }: Upload): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-deploy-'));
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  const removed = undoneWhenInterrupted(remove);
  try {
    const args = ['deploy', '--config', worker.path, '--keep-vars'];
    for (const [name, value] of Object.entries(vars)) args.push('--var', `${name}:${value}`);
    if (Object.keys(secrets).length > 0) {
      const file = join(dir, 'secrets.json');
      writeFileSync(file, JSON.stringify(secrets), { mode: 0o600, flag: 'wx' });
      args.push('--secrets-file', file);
    }
    const { status, output } = await run(args, accountId, Object.keys(secrets));
    if (status !== 0)
      throw new OperatorError(
        `wrangler could not deploy ${worker.name}: ${reasonOf(output)} Correct that and run the command again.`,
      );
  } finally {
    remove();
    removed();
  }
}

function run(
  args: string[],
  accountId: string,
  hidden: readonly string[],
): Promise<{ status: number | null; output: string }> {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    // No questions, no browser, and no report to anybody.
    CI: 'true',
    NO_COLOR: '1',
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_ACCOUNT_ID: accountId,
  };
  // Wrangler prefers a variable of the same name to the file.
  for (const name of ['MASTER_KEY', 'MASTER_KEY_PREVIOUS', ...hidden]) delete env[name];
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [wranglerProgram(), ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: ENDS_WITHIN_MS,
    });
    const ended = undoneWhenInterrupted(() => child.kill());
    let output = '';
    const keep = (chunk: Buffer) => (output = `${output}${chunk.toString()}`.slice(-OUTPUT_MAX_CHARS));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => {
      ended();
      failed(error);
    });
    child.on('close', (status) => {
      ended();
      done({ status, output });
    });
  });
}

/** The line that wrangler marks as its error, with the platform's own reasons below it. */
function reasonOf(output: string): string {
  // eslint-disable-next-line no-control-regex -- the codes of a terminal's colours
  const lines = output.replaceAll(/\u001B\[[\d;]*m/g, '').split('\n');
  const at = lines.findIndex((line) => line.includes('[ERROR]'));
  if (at < 0) return 'it ended without saying why.';
  const below = lines.slice(at + 1, at + 12);
  const end = below.findIndex((line) => /^(?:🪵|If you think|Note that)/u.test(line.trim()));
  const text = [lines[at]?.replace(/^.*\[ERROR\]/, '') ?? '', ...below.slice(0, end < 0 ? below.length : end)]
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

const ANSWERS_WITHIN_MS = 60_000;
const credentials = z.object({ type: z.string(), token: z.string() });

export const wranglerProgram = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin/wrangler.js');

export class NotLoggedIn extends OperatorError {}

/**
 * The token of the person who is signed in: `CLOUDFLARE_API_TOKEN`, or that of `wrangler login`, which wrangler renews.
 * @throws NotLoggedIn
 */
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
  throw new NotLoggedIn(
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
