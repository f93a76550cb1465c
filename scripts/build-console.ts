/**
 * Bundles the console of `src/console` into `src/console/bundle.generated.ts`: every file as a string under a name with
 * its content hash, and the page that loads them. Each view is a chunk of its own, loaded when it is first opened.
 */
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { writeApiModules } from './write-api-modules.ts';
import { writeGenerated } from './write-generated.ts';

/** Where the service serves the files. */
export const CONSOLE_FILES_PATH = '/console/assets/';
const output = 'src/console/bundle.generated.ts';

export interface ConsoleBundle {
  /** File name → content. */
  files: Record<string, string>;
  page: string;
  /** Gzipped bytes of everything that the page and the first view load. */
  firstViewGzipBytes: number;
  /** Chunks that load when another view is opened: name of the view → gzipped bytes that the first view lacks. */
  views: Record<string, number>;
}

export async function buildConsole(): Promise<ConsoleBundle> {
  writeApiModules();
  const result = await build({
    entryPoints: ['src/console/main.tsx', 'src/console/style/console.css'],
    outbase: 'src/console',
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    target: 'es2022',
    charset: 'utf8',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    outdir: 'dist/console',
    publicPath: CONSOLE_FILES_PATH,
    legalComments: 'none',
    metafile: true,
    write: false,
  });
  const files = Object.fromEntries(result.outputFiles.map(({ path, text }) => [basename(path), text]));
  const named = (pattern: RegExp) => Object.keys(files).find((name) => pattern.test(name)) ?? '';
  const [script, sheet] = [named(/^main-.*\.js$/), named(/^console-.*\.css$/)];
  const page = pageOf(script, sheet);
  const sizes = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, gzipBytes(text)]));
  const { first, views } = loadedBy(result.metafile, script);
  const sum = (names: Iterable<string>) => [...names].reduce((total, name) => total + (sizes[name] ?? 0), 0);
  return {
    files,
    page,
    firstViewGzipBytes: gzipBytes(page) + (sizes[sheet] ?? 0) + sum(first),
    views: Object.fromEntries(Object.entries(views).map(([name, chunks]) => [name, sum(chunks)])),
  };
}

/** The view of `/console`, which the first load brings along. */
const FIRST_VIEW = 'overview';

/** Which chunks the first view loads, and which each other view adds to those. */
function loadedBy(metafile: Metafile, script: string): { first: Set<string>; views: Record<string, Set<string>> } {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, chunk]) => [basename(path), chunk]));
  const statically = (name: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(name)) return seen;
    seen.add(name);
    for (const { path, kind } of outputs.get(name)?.imports ?? []) {
      if (kind === 'import-statement') statically(basename(path), seen);
    }
    return seen;
  };
  const lazy = (outputs.get(script)?.imports ?? []).filter(({ kind }) => kind === 'dynamic-import');
  const byView = lazy.map(({ path }) => [basename(path).replace(/-[^-]*$/, ''), statically(basename(path))] as const);
  const shell = statically(script);
  const first = new Set([...shell, ...(byView.find(([name]) => name === FIRST_VIEW)?.[1] ?? [])]);
  const views = byView.map(
    ([name, chunks]) => [name, new Set([...chunks].filter((chunk) => !first.has(chunk)))] as const,
  );
  return { first, views: Object.fromEntries(views.filter(([name]) => name !== FIRST_VIEW)) };
}

function pageOf(script: string, sheet: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Gatehouse</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${CONSOLE_FILES_PATH}${sheet}">
<script type="module" src="${CONSOLE_FILES_PATH}${script}"></script>
</head>
<body>
<noscript>The console needs JavaScript. Everything in it is also in the management API: see /docs.</noscript>
</body>
</html>
`;
}

function gzipBytes(text: string): number {
  return gzipSync(text, { level: 9 }).length;
}

/** A person opens the console on a phone network too. */
const FIRST_VIEW_MAX_GZIP_BYTES = 62 * 1024;
const VIEW_MAX_GZIP_BYTES = 25 * 1024;

function over(name: string, bytes: number, max: number): string[] {
  return bytes > max ? [`console, ${name}: ${bytes} bytes gzipped, limit ${max}`] : [];
}

/** One line for each limit that is exceeded. */
export function checkConsoleSizes({ firstViewGzipBytes, views }: ConsoleBundle): string[] {
  return [
    ...over('first view', firstViewGzipBytes, FIRST_VIEW_MAX_GZIP_BYTES),
    ...Object.entries(views).flatMap(([name, bytes]) => over(name, bytes, VIEW_MAX_GZIP_BYTES)),
  ];
}

export function writeConsole({ files, page }: ConsoleBundle): void {
  writeGenerated(
    output,
    `// Generated by scripts/build-console.ts. Not tracked.
export const consolePage: string = ${JSON.stringify(page)};
export const consoleFiles: Record<string, string> = ${JSON.stringify(files)};
`,
  );
}

if (import.meta.main) {
  const built = await buildConsole();
  writeConsole(built);
  console.log(`console, first view ${String(built.firstViewGzipBytes).padStart(6)} B gzipped`);
  for (const [name, bytes] of Object.entries(built.views)) {
    console.log(`console, + ${name.padEnd(16)} ${String(bytes).padStart(6)} B gzipped`);
  }
  const failures = checkConsoleSizes(built);
  for (const failure of failures) console.error(failure);
  if (failures.length > 0) process.exitCode = 1;
}
