/**
 * The npm packages as they are published: built and packed once for all processes of a run, then installed into a folder
 * of the test. What else an example imports is linked from the packages of `test/compat` or of the root, so nothing is
 * downloaded.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, inject } from 'vitest';
import { eventually } from './eventually.ts';

const run = promisify(execFile);
const names = ['server', 'widget', 'cli'] as const;
type PackageName = (typeof names)[number];

/** Path of a package's tarball. The first process that asks makes all of them. */
export async function packed(name: PackageName): Promise<string> {
  const folder = join(inject('preparedBundles'), 'packages');
  const done = join(folder, 'done');
  const path = join(folder, `gatehouse-${name}-${version()}.tgz`);
  try {
    mkdirSync(folder);
  } catch {
    await eventually(
      async () => existsSync(done),
      (isDone) => isDone,
    );
    return path;
  }
  for (const each of names) {
    // `prepack` builds it in its own folder, as at a release.
    const args = ['pack', '--silent', '--pack-destination', folder];
    await run('npm', args, { cwd: resolve('packages', each) });
  }
  writeFileSync(done, '');
  return path;
}

function version(): string {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
}

/** A folder with packages installed from their tarballs. Removed after the file's last test. */
export function useInstalled(installed: readonly PackageName[], linked: readonly string[]): () => string {
  let folder: string | undefined;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-installed-'));
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const tarballs = await Promise.all(installed.map(packed));
    // No dependency to download, so it works without a network.
    await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ...tarballs], {
      cwd: folder,
    });
    for (const name of linked) {
      const link = join(folder, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      const found = ['test/compat/node_modules', 'node_modules'].map((folderOfAll) => resolve(folderOfAll, name));
      symlinkSync(found.find((path) => existsSync(path)) ?? '', link);
    }
  });
  afterAll(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    if (folder === undefined) throw new Error('The folder is used before the packages are installed');
    return folder;
  };
}

/** A fenced example of a package's README, found by the file name in its first line. */
export function readmeExample(name: PackageName, file: string): string {
  const readme = readFileSync(resolve('packages', name, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```\w+\n([^]*?)^```/gm)].map(([, code = '']) => code);
  const found = blocks.find((code) => new RegExp(`^(?://|<!--) ${file.replace('.', '\\.')}`).test(code));
  if (found === undefined) throw new Error(`packages/${name}/README.md has no example ${file}`);
  return found;
}

/**
 * Writes examples of the README into the folder, under their own names. They wait longer than the README's, so that none
 * gives up on a busy machine.
 */
export function writeExamples(folder: string, name: PackageName, files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    const patient = readmeExample(name, file)
      .replace(/(createVerifier\(\{)/, '$1 timeoutMs: 100_000,')
      .replace(/(solveChallenge\(response, \{)/, '$1 timeoutMs: 100_000,');
    writeFileSync(join(folder, file), patient);
  }
}
