/**
 * What the edge Workers really carry. An import boundary says what a file may name; only the bundle says
 * what came along. The edge must hold no store, no service code and no zod classic build, and stay small:
 * every byte is parsed at every cold start of every location. Run alone, it prints the parts.
 */
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { bundleOptions, readWranglerFile } from '../../src/cli/worker-config.ts';

const EDGE_CONFIG = 'wrangler.toml';
/** It compiles rules itself and carries every language and script: nobody else has them for it. */
const ANY_SERVICE_CONFIG = 'wrangler.any-service.toml';
/** More than a quarter are hono, jose and zod/mini, a sixteenth the scripts that a challenge needs in an outage. */
const EDGE_MAX_GZIP_BYTES = 66.5 * 1024;

const forbidden: readonly [RegExp, string][] = [
  [/^src\/(service|store|risk|cli)\//, 'belongs to the service'],
  [/^src\/widget\/(?!bundle\.generated\.ts$)/, 'is browser source; only the generated bundle is carried'],
  [/^src\/locales\/(widget|tasks|wait-page)\.generated\.ts$/, 'holds texts that the edge never shows'],
  [/node_modules\/zod\/.*\/locales\/(?!en\.)/, 'drags zod locales in'],
  [/node_modules\/zod\/.*\/classic\//, 'is the classic zod build; use zod/mini'],
];
/** Of the edge with a service of this project: what it has from that service, or never needs. */
const forbiddenBesideService: readonly [RegExp, string][] = [
  [/^src\/locales\/pages\.generated\.ts$/, 'holds languages that the service provides'],
  [/^src\/rules\/(canonical|user-agent-build|prefix-build)\.ts$/, 'is for compiling rules'],
  [
    /^src\/contract\/(edge-api|challenge-api|verdict-record|verdict-message|protect-instance|siteverify|errors)\.ts$/,
    'is a schema only the service parses with',
  ],
];

interface Bundle {
  gzipBytes: number;
  /** Bytes of each source file in the output, minified. */
  carried: ReadonlyMap<string, number>;
}

/** As deployed. */
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
  const problems = [...refused(edge, [...forbidden, ...forbiddenBesideService]), ...refused(anyService, forbidden)];
  if (edge.gzipBytes > EDGE_MAX_GZIP_BYTES) {
    problems.push(`${edge.gzipBytes} bytes gzipped, at most ${EDGE_MAX_GZIP_BYTES}`, ...partsOf(edge));
  }
  return problems;
}

/** Per folder or package; the gzipped bytes are its share of the whole, since they are squeezed together. */
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
