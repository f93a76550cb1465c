/**
 * `npm run build:docs`: builds the documentation site of `docs/` into `dist/site/docs`, unless it is there already for the
 * same pages. A dead link between pages fails the build. With `--optional`, as before `npm start`, a failure is only
 * reported: the service works without its documentation.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPackage } from './install-package.ts';

/** Where `src/service/wrangler.toml` finds the site: everything in it is below `/docs`. */
export const SITE_FOLDER = 'dist/site';
const SITE = join(SITE_FOLDER, 'docs');
const STAMP = 'dist/site.inputs';
/** A package of its own, which only a build installs. */
const SITE_TOOLS = 'docs/.vitepress';
const INPUTS = ['docs/**/*', `${SITE_TOOLS}/{*,{markdown,theme}/**/*}`, 'scripts/build-docs.ts'];

/** @returns whether anything was built. */
export async function buildDocs(): Promise<boolean> {
  mkdirSync(SITE_FOLDER, { recursive: true });
  const wanted = inputsHash();
  if (existsSync(join(SITE, 'index.html')) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return false;
  // Built beside the old site and then moved, because a stack may be serving that one.
  const draft = `dist/site-${randomUUID()}`;
  try {
    installPackage(SITE_TOOLS);
    const { build } = await import('../docs/.vitepress/build.ts');
    await build('docs', { outDir: draft });
    rmSync(SITE, { recursive: true, force: true });
    renameSync(draft, SITE);
    writeFileSync(STAMP, wanted);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return true;
}

/** Everything that the site is made of. */
function inputsHash(): string {
  const hash = createHash('sha256');
  const files = globSync(INPUTS, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of [...new Set(files)].toSorted()) hash.update(`${path}\0`).update(readFileSync(path)).update('\0');
  return hash.digest('hex');
}

if (import.meta.main) {
  const started = performance.now();
  try {
    const isNew = await buildDocs();
    console.log(
      isNew
        ? `documentation built in ${((performance.now() - started) / 1000).toFixed(1)} s`
        : 'documentation is up to date',
    );
  } catch (error) {
    console.error(`The documentation was not built: ${error instanceof Error ? error.message : String(error)}`);
    if (!process.argv.includes('--optional')) process.exitCode = 1;
  }
}
