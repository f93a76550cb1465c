/**
 * Serves the page of the console's components (`src/console/dev`), built anew at each load. It needs no stack and is no
 * part of what the service carries. Run: `node scripts/console-components.ts [PORT]`
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { build } from 'esbuild';

const DEFAULT_PORT = 8810;
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Components</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/console.css">
<script type="module" src="/components.js"></script>
</head>
<body></body>
</html>
`;

/** @param port 0: any free one. */
export async function serveComponents(port: number): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer((request, response) => {
    fileOf(request.url ?? '/').then(
      ({ type, body }) => response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body),
      (error: unknown) => response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function fileOf(path: string): Promise<{ type: string; body: string }> {
  if (path === '/') return { type: 'text/html', body: page };
  const files = await built();
  const body = files.get(path.slice(1));
  if (body === undefined) return { type: 'text/plain', body: 'There is no such file.' };
  return { type: path.endsWith('.css') ? 'text/css' : 'text/javascript', body };
}

async function built(): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    entryPoints: ['src/console/dev/components.tsx', 'src/console/style/console.css'],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]',
    outdir: 'dist/components',
    sourcemap: 'inline',
    write: false,
  });
  return new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
}

if (import.meta.main) {
  const { url } = await serveComponents(Number(process.argv[2] ?? DEFAULT_PORT));
  console.log(`The console's components: ${url}`);
}
