/**
 * `wrangler deploy`, which bundles a Worker, uploads it and connects routes, domains, queues and schedules. Secrets travel
 * in a file that only its owner can read and that is gone when wrangler has ended: arguments are visible to everyone on
 * the machine.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../operator-error.ts';
import { undoneWhenInterrupted } from './interruption.ts';
import { wranglerProgram } from './login.ts';
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
