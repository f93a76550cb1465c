/**
 * Bundles the browser code of `src/widget` into `src/widget/bundle.generated.ts`: each script as a string with its
 * content hash, so that both Workers can carry it without a loader or an asset binding. Prints the sizes.
 * Also writes the generated modules of `src/locales`, which the scripts import.
 */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { otherPages, readLocales, writeLocales } from './build-locales.ts';
import { writeGenerated } from './write-generated.ts';

export interface ClientAsset {
  hash: string;
  body: string;
  gzipBytes: number;
}

/** Scripts that other scripts load. They are built first, because the others contain their hashes. */
const loaded = ['pow-worker', 'environment', 'languages', 'dialog', 'visual'];
/** The challenge page's script alone loads this one. No other needs its hash. */
const loadedLast = 'protect';
/** The widget under the APIs of other products, each with the folder that its path has in the address of the original. */
const compatFolders: Record<string, string> = {
  'compat/turnstile': 'turnstile/v0',
  'compat/hcaptcha': 'hcaptcha/1',
  'compat/recaptcha': 'recaptcha',
  'compat/procaptcha': 'procaptcha/js',
  'compat/procaptcha-module': 'procaptcha/js',
};
/** Built as an ES module instead of a classic script. */
const modules = new Set(['compat/procaptcha-module']);
const entries = ['widget', 'copy', 'frame', ...Object.keys(compatFolders), loadedLast, 'interstitial'];
const output = 'src/widget/bundle.generated.ts';

interface SizeLimit {
  name: string;
  files: readonly string[];
  /** File whose size does not count, because the others contain it. */
  above?: string;
  maxGzipBytes: number;
}

/** Every visitor downloads these before they can act, so they stay small. The tests of the pages check page weight. */
export const sizeLimits: readonly SizeLimit[] = [
  { name: 'widget and PoW worker', files: ['widget.js', 'pow-worker.js'], maxGzipBytes: 10 * 1024 },
  { name: 'protect script', files: ['protect.js'], maxGzipBytes: 10 * 1024 },
  // A wrapper's user pays for the API of the original above the widget: at most 2 KB each.
  { name: 'Turnstile script', files: ['compat/turnstile.js'], above: 'widget.js', maxGzipBytes: 2 * 1024 },
  { name: 'hCaptcha script', files: ['compat/hcaptcha.js'], above: 'widget.js', maxGzipBytes: 2 * 1024 },
  { name: 'reCAPTCHA script', files: ['compat/recaptcha.js'], above: 'widget.js', maxGzipBytes: 2 * 1024 },
  { name: 'Procaptcha script', files: ['compat/procaptcha.js'], above: 'widget.js', maxGzipBytes: 2 * 1024 },
  { name: 'Procaptcha module', files: ['compat/procaptcha-module.js'], above: 'widget.js', maxGzipBytes: 2 * 1024 },
  { name: 'environment report', files: ['environment.js'], maxGzipBytes: 5 * 1024 },
  { name: 'tasks in all their languages', files: ['visual.js'], maxGzipBytes: 26 * 1024 },
];

async function bundle(name: string, versions: Record<string, string>): Promise<ClientAsset> {
  const result = await build({
    entryPoints: [`src/widget/${name}.ts`],
    bundle: true,
    minify: true,
    format: modules.has(name) ? 'esm' : 'iife',
    target: 'es2022',
    charset: 'utf8',
    define: {
      GATEHOUSE_ASSET_VERSIONS: JSON.stringify(versions),
      GATEHOUSE_IS_MODULE: String(modules.has(name)),
      GATEHOUSE_COMPAT_FOLDER: name in compatFolders ? JSON.stringify(compatFolders[name]) : 'undefined',
    },
    write: false,
    legalComments: 'none',
    // Of modules only. In the other formats, esbuild drops the branch that has it.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return asset(result.outputFiles[0]?.text ?? '');
}

/** Builds every browser file, and the language modules that they import. Keys are file names. */
export async function buildClient(): Promise<Record<string, ClientAsset>> {
  const locales = readLocales();
  writeLocales(locales);
  const assets: Record<string, ClientAsset> = {};
  const versions: Record<string, string> = {};
  for (const name of [...loaded, ...entries]) {
    const built = await bundle(name, versions);
    assets[`${name}.js`] = built;
    if (loaded.includes(name) || name === loadedLast) versions[name] = built.hash;
  }
  const frame = framePage(assets['frame.js']?.hash ?? '');
  return { ...assets, 'frame.html': frame, 'page-texts.json': asset(JSON.stringify(otherPages(locales))) };
}

/** The page around `frame.js`. It is a file like the scripts, so that it is served from the same place. */
function framePage(scriptHash: string): ClientAsset {
  return asset(
    `<!doctype html><meta charset="utf-8"><title>Gatehouse</title><script src="frame.js?v=${scriptHash}"></script>\n`,
  );
}

function asset(body: string): ClientAsset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16);
  return { hash, body, gzipBytes: gzipSync(body, { level: 9 }).length };
}

/** One line for each limit that is exceeded. */
export function checkClientSizes(assets: Readonly<Record<string, ClientAsset>>): string[] {
  const sizeOf = (file = ''): number => assets[file]?.gzipBytes ?? 0;
  return sizeLimits.flatMap(({ name, files, above, maxGzipBytes }) => {
    const gzipBytes = files.reduce((sum, file) => sum + sizeOf(file), -sizeOf(above));
    return gzipBytes > maxGzipBytes ? [`${name}: ${gzipBytes} bytes gzipped, limit ${maxGzipBytes}`] : [];
  });
}

/** Scripts that the gate's pages need while the service is unreachable. The edge gets the others from the service. */
const edgeFiles = new Set(['interstitial.js', 'pow-worker.js', 'copy.js']);
/** Scripts that an edge without a service of this project carries too, because no service provides them. */
const pageFiles = new Set(['widget.js', 'languages.js', 'dialog.js', 'protect.js']);

export function writeBundle(assets: Readonly<Record<string, ClientAsset>>, path = output): void {
  const type = 'Record<string, { hash: string; body: string }>';
  const literal = (isWanted: (name: string) => boolean): string => {
    const lines = Object.entries(assets)
      .filter(([name]) => isWanted(name))
      .map(([name, { hash, body }]) => `  '${name}': { hash: '${hash}', body: ${JSON.stringify(body)} },\n`);
    return `{\n${lines.join('')}}`;
  };
  // The edge carries this table, and serves no compatibility scripts.
  const named = Object.entries(assets).filter(([name]) => !name.startsWith('compat/'));
  const hashes = Object.fromEntries(named.map(([name, { hash }]) => [name, hash]));
  const source = `// Generated by scripts/build-client.ts. Not tracked.
export const assetHashes: Record<string, string> = ${JSON.stringify(hashes, null, 2)};
export const edgeAssets: ${type} = ${literal((name) => edgeFiles.has(name))};
export const pageAssets: ${type} = ${literal((name) => pageFiles.has(name))};
const otherAssets: ${type} = ${literal((name) => !edgeFiles.has(name) && !pageFiles.has(name))};
export const clientAssets: ${type} = /* @__PURE__ */ Object.assign({}, edgeAssets, pageAssets, otherAssets);
`;
  writeGenerated(path, source);
}

if (import.meta.main) {
  const assets = await buildClient();
  writeBundle(assets);
  for (const [name, { body, gzipBytes }] of Object.entries(assets))
    console.log(`${name.padEnd(18)} ${String(body.length).padStart(7)} B  ${String(gzipBytes).padStart(6)} B gzipped`);
  const failures = checkClientSizes(assets);
  for (const failure of failures) console.error(failure);
  if (failures.length > 0) process.exitCode = 1;
}
