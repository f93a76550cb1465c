/**
 * The page of the API, `/docs/api`: Scalar's reference of `/openapi.json`. Its script comes from npm, in the package that
 * has it as one file. Everything that would call another host is off: fonts, telemetry, the proxy for trial calls, agents.
 * Trial calls are off too, because this page must not act with the session of a reader who is signed in to the console.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import plugin from '@scalar/fastify-api-reference';

const FOLDER = 'assets/api';
const HASH_CHARS = 12;

/** Languages of the code samples. The others are hidden. */
const hiddenClients = {
  ...Object.fromEntries(
    'c clojure csharp dart fsharp http java julia kotlin node objc ocaml powershell r ruby rust swift'
      .split(' ')
      .map((language) => [language, true]),
  ),
  shell: ['httpie', 'wget'],
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  python: ['aiohttp', 'httpx_async', 'httpx_sync', 'requests'],
  php: ['guzzle', 'laravel'],
};

const configuration = {
  url: '/openapi.json',
  hiddenClients,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  withDefaultFonts: false,
  telemetry: false,
  hideTestRequestButton: true,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'none',
  // Every request and response shows its schema.
  hideModels: true,
};

/** Its validator tries to compile code, which the page's content security policy forbids and reports. */
const START = `globalThis.__zod_globalConfig = { jitless: true };
addEventListener('DOMContentLoaded', () => Scalar.createApiReference('#app', ${JSON.stringify(configuration)}));
`;

const STYLE = `
:root { color-scheme: light dark; --scalar-custom-header-height: 48px; }
body { margin: 0; }
header { position: sticky; top: 0; z-index: 10; box-sizing: border-box; height: 48px; display: flex; gap: 24px;
  align-items: center; padding: 0 20px; font: 500 14px/1.4 system-ui, sans-serif;
  background: light-dark(#fff, #1b1b1f); border-bottom: 1px solid light-dark(#e2e2e3, #3c3f44); }
header a { color: light-dark(#3c3c43, #dfdfd6); }
.light-mode { --scalar-color-2: #4b4b4f; --scalar-color-3: #5c5c61; --scalar-color-green: #00693c; }
.dark-mode { --scalar-color-2: #c8c8cc; --scalar-color-3: #b4b4b8; }
`;

export function writeApiPage(outDir: string): void {
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API | Gatehouse</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
<script src="${asset(outDir, 'start', START)}"></script>
<script src="${asset(outDir, 'renderer', rendererScript())}" defer></script>
</head>
<body>
<header><a href="/docs/">Documentation</a><a href="/console">Console</a><a href="/openapi.json">openapi.json</a></header>
<div id="app"></div>
<noscript>The reference needs JavaScript. <a href="/openapi.json">/openapi.json</a> has the same facts.</noscript>
</body>
</html>
`;
  writeFileSync(join(outDir, 'api.html'), page);
}

/** Writes a script under a name with its hash, and returns its path. */
function asset(outDir: string, name: string, source: string): string {
  const hash = createHash('sha256').update(source).digest('hex').slice(0, HASH_CHARS);
  const file = `${FOLDER}/${name}-${hash}.js`;
  mkdirSync(join(outDir, FOLDER), { recursive: true });
  writeFileSync(join(outDir, file), source);
  return `/docs/${file}`;
}

interface Route {
  url: string;
  handler: (request: unknown, reply: Reply) => void;
}
interface Reply {
  header: () => Reply;
  send: (body: string) => void;
}

/** The package is a plugin of a web server. This asks the route of the script for its response. */
function rendererScript(): string {
  const routes: Route[] = [];
  const server = { route: (route: Route) => routes.push(route), hasPlugin: () => false };
  const register = plugin as unknown as (to: typeof server, options: object, done: () => void) => void;
  register(server, { configuration }, () => undefined);
  let script = '';
  const reply: Reply = { header: () => reply, send: (body) => (script = body) };
  routes.find(({ url }) => url.endsWith('.js'))?.handler(null, reply);
  if (script === '') throw new Error('The script of the API page is not in @scalar/fastify-api-reference any more.');
  return script.replace(/\n\/\/# sourceMappingURL=.*$/, '');
}
