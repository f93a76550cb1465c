/**
 * `node scripts/install-package.ts FOLDER…` installs packages that have a lockfile of their own, unless what their
 * lockfiles name is installed already. They are no workspaces, so that the root's `npm ci` leaves them out.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

export function installPackage(folder: string): void {
  const path = join(ROOT, folder);
  const stamp = join(path, 'node_modules/.installed-lockfile');
  const wanted = createHash('sha256')
    .update(readFileSync(join(path, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.log(`installing the packages of ${folder}`);
  // None needs a script of its own to be installed.
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], {
    cwd: path,
    stdio: 'inherit',
  });
  writeFileSync(stamp, wanted);
}

if (import.meta.main) for (const folder of process.argv.slice(2)) installPackage(folder);
