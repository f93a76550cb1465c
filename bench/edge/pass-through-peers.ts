/**
 * Workers that `npm run bench -- edge-peers` compares the edge with. They forward to the host that the request names, as
 * a Worker on a route does, and read a KV namespace that a `PUT` fills.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

/** The name under which CrowdSec's Worker expects its namespace. */
export const PEER_NAMESPACE = 'CROWDSECCFBOUNCERNS';
/** The key of a JSON object from network to action. */
export const RANGES_KEY = 'IP_RANGES';
const CROWDSEC_SCRIPT = 'pkg/cloudflare/worker/dist/main.js';
const CROWDSEC_REPOSITORY = 'https://github.com/crowdsecurity/cs-cloudflare-worker-bouncer';

const bare = `export default { fetch: (request) => fetch(request) };`;
/** What the namespace alone costs: CrowdSec's Worker reads these two keys for a visitor whose address is not listed. */
const reading = `export default {
  async fetch(request, env) {
    await env.${PEER_NAMESPACE}.get(request.headers.get('cf-connecting-ip'));
    await env.${PEER_NAMESPACE}.get('${RANGES_KEY}');
    return fetch(request);
  },
};`;

/** Lines of its log are left out, because Cloudflare does not print them to a terminal as workerd does. */
const filled = `import worker from 'peer';
console.log = () => {};
export default {
  async fetch(request, env, ctx) {
    if (request.method !== 'PUT') return worker.fetch(request, env, ctx);
    await env.${PEER_NAMESPACE}.put(new URL(request.url).pathname.slice(1), await request.text());
    return new Response();
  },
};`;

export const bareSource = (): Promise<string> => withFilling(bare);
export const readingSource = (): Promise<string> => withFilling(reading);

/** The script that a checkout of CrowdSec's repository has ready for deployment. */
export function crowdsecScript(checkout: string): string {
  const script = resolve(join(checkout, CROWDSEC_SCRIPT));
  if (existsSync(script)) return script;
  throw new Error(`${checkout} has no ${CROWDSEC_SCRIPT}. Run: git clone ${CROWDSEC_REPOSITORY}`);
}

export const crowdsecSource = (script: string): Promise<string> =>
  withFilling(`export { default } from ${JSON.stringify(script)};`);

async function withFilling(peer: string): Promise<string> {
  const result = await build({
    stdin: { contents: filled, resolveDir: process.cwd() },
    bundle: true,
    format: 'esm',
    target: 'es2024',
    write: false,
    plugins: [
      {
        name: 'peer',
        setup(plugins) {
          plugins.onResolve({ filter: /^peer$/ }, () => ({ path: 'peer', namespace: 'peer' }));
          plugins.onLoad({ filter: /.*/, namespace: 'peer' }, () => ({ contents: peer, resolveDir: process.cwd() }));
        },
      },
    ],
  });
  return result.outputFiles[0]?.text ?? '';
}

/** As CrowdSec's synchronization writes them. */
export async function fillNamespace(url: string, networks: readonly string[]): Promise<void> {
  const entries = {
    [RANGES_KEY]: JSON.stringify(Object.fromEntries(networks.map((network) => [network, 'ban']))),
    BAN_TEMPLATE: 'Access Denied',
  };
  for (const [key, body] of Object.entries(entries)) {
    const response = await fetch(`${url}/${key}`, { method: 'PUT', body });
    if (!response.ok) throw new Error(`The namespace was not filled: ${response.status}`);
  }
}
