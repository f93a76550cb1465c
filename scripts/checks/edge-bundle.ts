/**
 * What the edge Worker really carries. An import boundary says what a file may name; only the bundle says
 * what came along. The edge must hold no store, no service code and no zod classic build, and stay small:
 * every byte is parsed at every cold start of every location.
 */
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { bundleOptions, readWranglerFile } from '../../src/cli/worker-config.ts';

const EDGE_CONFIG = 'wrangler.toml';
/** About a third is what it serves (client scripts, pages, languages), a quarter zod, jose and Hono. */
const EDGE_MAX_GZIP_BYTES = 96 * 1024;

const forbidden: readonly [RegExp, string][] = [
  [/^src\/(service|store|risk|cli)\//, 'belongs to the service'],
  [/^src\/widget\/(?!bundle\.generated\.ts$)/, 'is browser source; only the generated bundle is carried'],
  [/node_modules\/zod\/.*\/locales\/(?!en\.)/, 'drags zod locales in'],
  [/node_modules\/zod\/.*\/classic\//, 'is the classic zod build; use zod/mini'],
];

export async function checkEdgeBundle(): Promise<string[]> {
  const { main, minify = false, keep_names: keepNames = true } = readWranglerFile(EDGE_CONFIG);
  const result = await build({ ...bundleOptions(main), minify, keepNames, metafile: true });
  const problems: string[] = [];
  const carried = Object.values(result.metafile.outputs)[0]?.inputs ?? {};
  for (const [path, { bytesInOutput }] of Object.entries(carried)) {
    const why = bytesInOutput > 0 ? forbidden.find(([pattern]) => pattern.test(path))?.[1] : undefined;
    if (why !== undefined) problems.push(`${path} ${why}`);
  }
  const bytes = gzipSync(result.outputFiles[0]?.contents ?? '').length;
  if (bytes > EDGE_MAX_GZIP_BYTES) problems.push(`${bytes} bytes gzipped, at most ${EDGE_MAX_GZIP_BYTES}`);
  return problems;
}
