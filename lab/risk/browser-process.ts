/**
 * A browser that is started as a person starts it: a process of its own with a fresh profile, without a driver. Some
 * get a debugging port, which a driver connects to later.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { pause } from './hand.ts';

/** No first-run dialogs, and no connections to other machines. */
export const quietChromiumArgs: readonly string[] = [
  '--no-sandbox',
  '--no-first-run',
  '--no-default-browser-check',
  '--password-store=basic',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];
/** A browser has started and drawn its first page by then, even on a busy machine. */
const STARTS_WITHIN_MS = 40_000;
const STOPS_WITHIN_MS = 5000;

/** Runs `visit` beside a browser with an empty profile folder, then stops the browser and removes the folder. */
export async function besideBrowser(
  start: (folder: string) => ChildProcess,
  visit: () => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-risk-'));
  const child = start(folder);
  try {
    await visit();
  } finally {
    await stop(child);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** In a process group of its own, so that everything it starts is stopped with it. */
export function spawnBrowser(program: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(program, args, { env: { ...process.env, ...env }, stdio: 'ignore', detached: true });
}

export function connectToPort(port: number): Promise<Browser> {
  return untilStarted(() => chromium.connectOverCDP(`http://127.0.0.1:${port}`).catch(() => null));
}

/** The first result of `look` that is not `null`. */
export async function untilStarted<Seen>(look: () => Promise<Seen | null> | Seen | null): Promise<Seen> {
  const deadline = Date.now() + STARTS_WITHIN_MS;
  while (Date.now() < deadline) {
    const seen = await look();
    if (seen !== null) return seen;
    await pause(200);
  }
  throw new Error('The browser did not start');
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  if (child.exitCode !== null || child.pid === undefined) return;
  process.kill(-child.pid, 'SIGTERM');
  await Promise.race([ended, pause(STOPS_WITHIN_MS)]);
  if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
}
