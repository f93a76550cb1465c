/**
 * `--remote`: the deployed database, with wrangler's login. Wrangler would open a browser or ask questions when it is not
 * logged in, prints on standard output, and throws errors with a stack trace. Here a failure is one sentence.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'smol-toml';
import type { StoreEnv } from '../store/binding.ts';
import type { CommandResult } from './command-line.ts';
import { runCommand } from './database/commands.ts';
import { OperatorError } from './operator-error.ts';
import { SERVICE_CONFIG } from './service-worker.ts';
import { readWranglerFile } from './worker-config.ts';

/** A connection takes a few seconds. A network that drops packets would keep the command waiting without end. */
const CONNECTED_WITHIN_MS = 60_000;

const LOG_IN =
  'You are not logged in to Cloudflare. Run "npx wrangler login", or set CLOUDFLARE_API_TOKEN to a token that may edit D1 and Workers.';

export async function runRemote(args: readonly string[]): Promise<CommandResult> {
  const masterKey = process.env['MASTER_KEY'];
  if (!masterKey) throw new OperatorError('MASTER_KEY is not set. Set it to the secret of the deployed service.');
  const previous = process.env['MASTER_KEY_PREVIOUS'];
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-'));
  try {
    const database = await connected(configIn(dir));
    try {
      return await runCommand(args, {
        DB: database.env.DB,
        MASTER_KEY: masterKey,
        ...deployedUrl(),
        ...(previous === undefined ? {} : { MASTER_KEY_PREVIOUS: previous }),
      });
    } finally {
      await database.dispose();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Where the service is, for the links that lead there. */
function deployedUrl(): { serviceUrl?: string } {
  const serviceUrl = readWranglerFile(SERVICE_CONFIG).vars?.['SERVICE_URL'];
  return serviceUrl === undefined ? {} : { serviceUrl };
}

/** Wrangler opens a binding remotely only when the configuration asks for it. */
function configIn(dir: string): string {
  const { name, compatibility_date, account_id, d1_databases } = parse(readFileSync(SERVICE_CONFIG, 'utf8'));
  const databases = (d1_databases ?? []) as Record<string, string>[];
  const path = join(dir, 'wrangler.toml');
  const only = {
    name,
    compatibility_date,
    ...(account_id === undefined ? {} : { account_id }),
    d1_databases: databases.map((database) => ({ ...database, remote: true })),
  };
  writeFileSync(path, stringify(only));
  return path;
}

interface Connection {
  env: Pick<StoreEnv, 'DB'>;
  dispose(): Promise<void>;
}

async function connected(configPath: string): Promise<Connection> {
  // Read when the module loads: no questions, no browser, and nothing on standard output beside the command's JSON.
  process.env['CI'] = 'true';
  if (process.env['WRANGLER_LOG'] !== 'debug') process.env['WRANGLER_LOG'] = 'none';
  const { getPlatformProxy } = await import('wrangler');
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`No answer came within ${CONNECTED_WITHIN_MS / 1000} seconds.`);
    timer = setTimeout(() => reject(error), CONNECTED_WITHIN_MS);
  });
  try {
    return await Promise.race([getPlatformProxy<Pick<StoreEnv, 'DB'>>({ configPath, persist: false }), late]);
  } catch (error) {
    throw new OperatorError(refusal(error));
  } finally {
    clearTimeout(timer);
  }
}

/** Wrangler tells its errors apart by their texts only. */
function refusal(error: unknown): string {
  const text = causesOf(error).join(' ');
  if (/CLOUDFLARE_API_TOKEN|not logged in|Did not login|\b1000[01]\b|Authentication error|Unauthorized/i.test(text))
    return LOG_IN;
  if (
    /ENOTFOUND|EAI_AGAIN|ECONN|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|timeout|No answer came|could not be reached/i.test(
      text,
    )
  )
    return `Cloudflare cannot be reached. Check your connection and try again. ${last(error)}`;
  return `The deployed database cannot be opened. ${last(error)}`;
}

function causesOf(error: unknown): string[] {
  const texts: string[] = [];
  // Wrangler's events have a cause without being errors. The chain is short; the bound is against a circle.
  for (let at = error; typeof at === 'object' && at !== null && texts.length < 10;) {
    const { message, reason, cause } = at as { message?: string; reason?: string; cause?: unknown };
    texts.push(message ?? reason ?? '');
    at = cause;
  }
  return texts;
}

/** The innermost cause, on one line. */
function last(error: unknown): string {
  return (causesOf(error).at(-1) ?? '').replaceAll(/\s+/g, ' ').trim();
}
