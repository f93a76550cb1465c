/** The Workers that `npm run bench -- edge-peers` puts beside the edge, on workerd. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  PEER_NAMESPACE,
  RANGES_KEY,
  bareSource,
  crowdsecScript,
  crowdsecSource,
  fillNamespace,
} from '../../../bench/edge/pass-through-peers.ts';
import { startRawWorker } from '../../support/raw-workerd.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-peers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const started = (source: string) => startRawWorker({ source, compatibilityDate: '2026-01-01', kv: [PEER_NAMESPACE] });

test('the bare Worker forwards to the host that the request names', async () => {
  const origin = await startRawWorker({
    source: `export default { fetch: (request) => new Response('origin of ' + new URL(request.url).pathname) };`,
    compatibilityDate: '2026-01-01',
  });
  const bare = await started(await bareSource());
  const response = await requestAs(bare.url, new URL(origin.url).host, '/page');
  expect(response).toBe('origin of /page');
  await bare.stop();
  await origin.stop();
});

test('a peer reads the networks that were put into its namespace', async () => {
  const script = join(folder, 'pkg/cloudflare/worker/dist/main.js');
  mkdirSync(join(script, '..'), { recursive: true });
  writeFileSync(
    script,
    `const worker = { fetch: async (request, env) => new Response(await env.${PEER_NAMESPACE}.get('${RANGES_KEY}')) };
export { worker as default };`,
  );
  const peer = await started(await crowdsecSource(crowdsecScript(folder)));
  await fillNamespace(peer.url, ['192.0.2.0/24', '2001:db8::/32']);
  const read = await fetch(peer.url);
  expect(await read.json()).toEqual({ '192.0.2.0/24': 'ban', '2001:db8::/32': 'ban' });
  await peer.stop();
});

test('a folder without the script of CrowdSec is refused with the command that gets it', () => {
  expect(() => crowdsecScript(join(folder, 'nothing'))).toThrow('git clone');
});

/** `fetch` of Node.js cannot name another host. */
function requestAs(url: string, host: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(new URL(path, url), { headers: { host } }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(text));
    });
    call.on('error', reject);
    call.end();
  });
}
