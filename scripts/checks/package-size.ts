/**
 * The npm packages: within their sizes, on web standards, and without a dependency. A subpath may import the one
 * framework that it is for, or only its types.
 */
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const limits: readonly { entry: string; maxGzipBytes: number; mayImport?: readonly string[] }[] = [
  { entry: 'packages/server/src/index.ts', maxGzipBytes: 6 * 1024 },
  { entry: 'packages/server/src/client.ts', maxGzipBytes: 6 * 1024 },
  { entry: 'packages/server/src/express.ts', maxGzipBytes: 3 * 1024 },
  { entry: 'packages/server/src/fastify.ts', maxGzipBytes: 3 * 1024 },
  { entry: 'packages/server/src/hono.ts', maxGzipBytes: 3 * 1024 },
  { entry: 'packages/server/src/next.ts', maxGzipBytes: 3 * 1024 },
  { entry: 'packages/widget/src/index.ts', maxGzipBytes: 2 * 1024 },
  { entry: 'packages/widget/src/element.ts', maxGzipBytes: 100 },
  { entry: 'packages/widget/src/react.ts', maxGzipBytes: 2 * 1024, mayImport: ['react'] },
  { entry: 'packages/widget/src/vue.ts', maxGzipBytes: 3 * 1024, mayImport: ['vue'] },
];

export async function checkPackageSize(): Promise<string[]> {
  const problems = await Promise.all(
    limits.map(async ({ entry, maxGzipBytes, mayImport = [] }) => {
      const { gzipBytes, imported } = await measured(entry);
      return [
        ...(gzipBytes > maxGzipBytes ? [`${entry}: ${gzipBytes} bytes gzipped, limit ${maxGzipBytes}`] : []),
        ...imported.filter((name) => !mayImport.includes(name)).map((name) => `${entry} imports ${name}`),
      ];
    }),
  );
  return problems.flat();
}

async function measured(entry: string): Promise<{ gzipBytes: number; imported: string[] }> {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    packages: 'external',
    legalComments: 'none',
    metafile: true,
    write: false,
  });
  const imports = Object.values(result.metafile.outputs).flatMap((output) => output.imports);
  return {
    gzipBytes: gzipSync(result.outputFiles[0]?.text ?? '', { level: 9 }).length,
    imported: imports.map(({ path }) => path),
  };
}

if (import.meta.main) {
  for (const { entry } of limits) console.log(`${entry.padEnd(36)} ${(await measured(entry)).gzipBytes} B gzipped`);
}
