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
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';

const root = resolve(import.meta.dirname, '..');

/** Types of web standards only, and JavaScript that every supported runtime reads. */
const LIBRARY: BuildOptions = { bundle: true, target: 'es2022', charset: 'utf8', packages: 'external' };

const builders: Readonly<Record<string, () => Promise<void>>> = {
  server: buildServer,
  widget: buildWidget,
  cli: buildCli,
};

async function buildPackages(names: readonly string[] = Object.keys(builders)): Promise<void> {
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

/** Older versions lack functions that the commands need, and would fail with a stack trace. */
const NODE_MIN = 22;
const REFUSES_OLD_NODE = `if (Number(process.versions.node.split('.')[0]) < ${NODE_MIN}) { console.error('gatehouse needs Node ${NODE_MIN} or newer, and this is ' + process.version + '. Update Node.'); process.exit(1); }`;

/**
 * What needs the repository (wrangler, the simulator, the database) is loaded with `import()` and stays out. The package
 * refuses those commands before they get there.
 */
const withoutRepository: Plugin = {
  name: 'without-repository',
  setup(bundler) {
    bundler.onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, namespace: 'repository' } : undefined,
    );
    bundler.onLoad({ filter: /./, namespace: 'repository' }, ({ path }) => ({
      contents: `throw new Error(${JSON.stringify(`${basename(path)} is not in this package`)});`,
    }));
  },
};

/** One file without dependencies. */
async function buildCli(): Promise<void> {
  const outfile = packagePath('cli', 'dist/gatehouse.js');
  const { metafile } = await build({
    // npm runs this in the package's folder. Paths of the bundle's inputs are from the root.
    absWorkingDir: root,
    entryPoints: [join(root, 'src/cli/packed.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: `node${NODE_MIN}`,
    charset: 'utf8',
    minifySyntax: true,
    minifyWhitespace: true,
    metafile: true,
    // CommonJS packages inside the bundle ask for Node's own modules.
    banner: {
      js: `#!/usr/bin/env node\nimport { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n${REFUSES_OLD_NODE}`,
    },
    plugins: [withoutRepository],
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  chmodSync(outfile, 0o755);
  writeFileSync(packagePath('cli', 'dist/LICENSES.txt'), licencesOf(Object.keys(metafile.inputs)));
}

/** The licences of the packages that a bundle carries, which their copies must come with. */
function licencesOf(inputs: readonly string[]): string {
  const folders = inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)]
    .toSorted()
    .map((folder) => {
      const [licence] = globSync(join(root, folder, 'licen[cs]e*'));
      const [name] = globSync(join(root, folder, 'LICEN[CS]E*'));
      const path = licence ?? name;
      if (path === undefined) throw new Error(`${folder} is bundled and has no licence file`);
      return `${folder.split('node_modules/').at(-1)}\n\n${readFileSync(path, 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
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
