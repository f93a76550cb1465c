/**
 * `npm run build:packages`: builds the npm packages of `packages/` into their `dist` folders, which are not tracked.
 * esbuild writes the JavaScript, tsc the types. With names as arguments it builds only those packages.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import type { BuildOptions } from 'esbuild';

const root = resolve(import.meta.dirname, '..');

/** Types of web standards only, and JavaScript that every supported runtime reads. */
const LIBRARY: BuildOptions = { bundle: true, target: 'es2022', charset: 'utf8', packages: 'external' };

const builders: Readonly<Record<string, () => Promise<void>>> = {
  server: buildServer,
  widget: buildWidget,
  cli: buildCli,
};

export async function buildPackages(names: readonly string[] = Object.keys(builders)): Promise<void> {
  for (const name of names) {
    const builder = builders[name];
    if (builder === undefined)
      throw new Error(`There is no package ${name}. Name one of: ${Object.keys(builders).join(', ')}.`);
    rmSync(packagePath(name, 'dist'), { recursive: true, force: true });
    await builder();
    copyFileSync(join(root, 'LICENSE'), packagePath(name, 'LICENSE'));
  }
}

function packagePath(name: string, ...path: string[]): string {
  return join(root, 'packages', name, ...path);
}

function entriesOf(name: string): string[] {
  return globSync(packagePath(name, 'src/*.ts'));
}

/** ES modules, and CommonJS for the many Node servers that still load packages with `require`. */
async function buildServer(): Promise<void> {
  const entryPoints = entriesOf('server');
  const outdir = packagePath('server', 'dist');
  await build({ ...LIBRARY, entryPoints, outdir, format: 'esm', splitting: true });
  await build({ ...LIBRARY, entryPoints, outdir, format: 'cjs', outExtension: { '.js': '.cjs' } });
  writeTypes('server', ['js', 'cjs']);
}

async function buildWidget(): Promise<void> {
  const outdir = packagePath('widget', 'dist');
  await build({ ...LIBRARY, entryPoints: entriesOf('widget'), outdir, format: 'esm', splitting: true });
  writeTypes('widget', ['js']);
  // Svelte components are published as source.
  cpSync(packagePath('widget', 'svelte'), outdir, { recursive: true });
}

/** The simulator and wrangler stay outside: they are programs of their own, and only some commands need them. */
async function buildCli(): Promise<void> {
  const outfile = packagePath('cli', 'dist/gatehouse.js');
  await build({
    entryPoints: [join(root, 'src/cli/gatehouse.ts')],
    outdir: dirname(outfile),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    charset: 'utf8',
    banner: { js: '#!/usr/bin/env node' },
    external: ['esbuild', 'miniflare', 'workerd', 'wrangler'],
  });
  chmodSync(outfile, 0o755);
}

/**
 * One declaration file per module of the package, for each form of module that it has. The compiler also writes those of
 * modules outside the package, which only the bundle has. They are left out.
 */
function writeTypes(name: string, forms: readonly ('js' | 'cjs')[]): void {
  const scratch = mkdtempSync(join(tmpdir(), 'gatehouse-types-'));
  try {
    const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--rootDir', root];
    const args = ['-p', packagePath(name, 'tsconfig.json'), ...options, '--outDir', scratch];
    execFileSync(join(root, 'node_modules/.bin/tsc'), args, { stdio: 'inherit' });
    const source = join(scratch, 'packages', name, 'src');
    for (const path of globSync(join(source, '**/*.d.ts'))) {
      const text = readFileSync(path, 'utf8');
      for (const form of forms) {
        const target = packagePath(name, 'dist', relative(source, path)).replace(/ts$/, form.replace('js', 'ts'));
        mkdirSync(dirname(target), { recursive: true });
        writeFileSync(target, text.replaceAll(OWN_MODULE, `$1.${form}$2`));
      }
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** In an import of declarations. */
const OWN_MODULE = /(['"]\.{1,2}\/[^'"]*)\.ts(['"])/g;

if (import.meta.main) await buildPackages(process.argv.length > 2 ? process.argv.slice(2) : undefined);
