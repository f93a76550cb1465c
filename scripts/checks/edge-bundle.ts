/**
 * Content of the edge Workers' bundles. Import boundaries check what a file names; only the bundle shows what comes with
 * it. The edge must not contain the store, service code, languages that its service provides or zod's classic build. Its
 * size has no limit (docs/decisions/0035-the-edge-carries-what-an-outage-needs.md). Run alone, it prints the parts of
 * each bundle.
 */
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { bundleOptions, readWranglerFile } from '../../src/cli/worker-config.ts';

const EDGE_CONFIG = 'wrangler.toml';
/** This edge compiles rules itself and carries every language and script, because no service provides them. */
const ANY_SERVICE_CONFIG = 'src/edge/wrangler.any-service.toml';
const forbidden: readonly [RegExp, string][] = [
  [/^src\/(service|store|cli)\//, 'belongs to the service'],
  // The service mints session tokens and scores sessions; the edge checks tokens and judges single requests.
  [/^src\/risk\/(?!pace\.ts$|session-token\.ts$|headers\/)/, 'belongs to the service'],
  [/^src\/widget\/(?!bundle\.generated\.ts$)/, 'is browser source; only the generated bundle is carried'],
  [/^src\/locales\/(widget|tasks|wait-page)\.generated\.ts$/, 'holds texts that the edge never shows'],
  [/node_modules\/zod\/.*\/locales\/(?!en\.)/, 'is a zod locale'],
  [/node_modules\/zod\/.*\/classic\//, 'is the classic zod build; use zod/mini'],
];
/** Files that the edge gets from a service of this project, or never needs. */
const forbiddenBesideService: readonly [RegExp, string][] = [
  [/^src\/locales\/pages\.generated\.ts$/, 'holds languages that the service provides'],
  [/^src\/rules\/(canonical|user-agent-build|key-builder)\.ts$/, 'is for compiling rules'],
  [
    /^src\/contract\/(edge\/(edge-api|verdict-record|verdict-batch)|captcha\/(challenge-api|siteverify)|management\/(instance-settings|site-settings)|errors)\.ts$/,
    'is a schema that only the service parses with',
  ],
];

interface Bundle {
  gzipBytes: number;
  /** Bytes of each source file in the output, minified. */
  carried: ReadonlyMap<string, number>;
}

/** The bundle as wrangler deploys it. */
async function bundleOf(config: string): Promise<Bundle> {
  const { main, minify = false, keep_names: keepNames = true } = readWranglerFile(config);
  const result = await build({ ...bundleOptions(main), minify, keepNames, metafile: true });
  const inputs = Object.entries(Object.values(result.metafile.outputs)[0]?.inputs ?? {});
  const carried = inputs.map(([path, { bytesInOutput }]) => [path, bytesInOutput] as const);
  return {
    gzipBytes: gzipSync(result.outputFiles[0]?.contents ?? '').length,
    carried: new Map(carried.filter(([, bytes]) => bytes > 0)),
  };
}

export async function checkEdgeBundle(): Promise<string[]> {
  const [edge, anyService] = await Promise.all([bundleOf(EDGE_CONFIG), bundleOf(ANY_SERVICE_CONFIG)]);
  const refused = (bundle: Bundle, patterns: typeof forbidden): string[] =>
    [...bundle.carried.keys()].flatMap((path) => {
      const why = patterns.find(([pattern]) => pattern.test(path))?.[1];
      return why === undefined ? [] : [`${path} ${why}`];
    });
  return [...refused(edge, [...forbidden, ...forbiddenBesideService]), ...refused(anyService, forbidden)];
}

/** Bytes per folder or package. Gzipped bytes are its share of the whole, because gzip compresses all of it together. */
function partsOf({ gzipBytes, carried }: Bundle): string[] {
  const parts = new Map<string, number>();
  let sum = 0;
  for (const [path, bytes] of carried) {
    const part =
      /^node_modules\/(?:@[^/]+\/)?[^/]+|^src\/[^/]+(?:\/(?:feed|pages|protect))?(?=\/)/.exec(path)?.[0] ?? path;
    parts.set(part, (parts.get(part) ?? 0) + bytes);
    sum += bytes;
  }
  return [...parts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([part, bytes]) => {
      const share = Math.round((gzipBytes * bytes) / sum);
      return `${part.padEnd(22)} ${String(bytes).padStart(7)} B  about ${String(share).padStart(6)} B gzipped`;
    });
}

if (import.meta.main) {
  for (const config of [EDGE_CONFIG, ANY_SERVICE_CONFIG]) {
    const bundle = await bundleOf(config);
    console.log(`${config}: ${bundle.gzipBytes} bytes gzipped\n  ${partsOf(bundle).join('\n  ')}`);
  }
}
