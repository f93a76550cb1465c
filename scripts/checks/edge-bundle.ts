/**
 * What the edge Worker really carries. An import boundary says what a file may name; only the bundle says
 * what came along. The edge must hold no store, no service code and no zod classic build, and stay small:
 * every byte is parsed at every cold start of every location.
 */
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';
import { bundleOptions } from '../../src/cli/worker-config.ts';

const EDGE_ENTRY = 'src/edge/index.ts';
/** Of what runs; the client scripts and languages that the edge serves are text to it and lie beside. */
const EDGE_CODE_MAX_GZIP_BYTES = 84 * 1024;
const SERVED = /bundle\.generated\.ts$/;

const forbidden: readonly [RegExp, string][] = [
  [/^src\/(service|store|cli)\//, 'belongs to the service'],
  [/^src\/widget\/(?!bundle\.generated\.ts$)/, 'is browser source; only the generated bundle is carried'],
  [/node_modules\/zod\/.*\/locales\/(?!en\.)/, 'drags zod locales in'],
  [/node_modules\/zod\/.*\/classic\//, 'is the classic zod build; use zod/mini'],
];

export async function checkEdgeBundle(): Promise<string[]> {
  const result = await build({ ...bundleOptions(EDGE_ENTRY), minify: true, metafile: true });
  const problems: string[] = [];
  const carried = Object.values(result.metafile.outputs)[0]?.inputs ?? {};
  for (const [path, { bytesInOutput }] of Object.entries(carried)) {
    const why = bytesInOutput > 0 ? forbidden.find(([pattern]) => pattern.test(path))?.[1] : undefined;
    if (why !== undefined) problems.push(`${path} ${why}`);
  }
  const code = await build({ ...bundleOptions(EDGE_ENTRY), minify: true, plugins: [withoutServedFiles] });
  const bytes = gzipSync(code.outputFiles[0]?.contents ?? '').length;
  if (bytes > EDGE_CODE_MAX_GZIP_BYTES) problems.push(`${bytes} bytes gzipped, at most ${EDGE_CODE_MAX_GZIP_BYTES}`);
  return problems;
}

const withoutServedFiles: Plugin = {
  name: 'without-served-files',
  setup(bundle) {
    bundle.onLoad({ filter: SERVED }, () => ({ contents: 'export const clientAssets = {};', loader: 'ts' }));
  },
};
