/** `npm run build`: bundles the Workers as a deployment would, without deploying them. */
import { spawnSync } from 'node:child_process';

const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' };

for (const [name, config] of [
  ['edge', 'wrangler.toml'],
  ['edge-any-service', 'src/edge/wrangler.any-service.toml'],
  ['service', 'src/service/wrangler.toml'],
] as const) {
  const args = ['deploy', '--dry-run', '--outdir', `dist/${name}`, '--config', config];
  const { status } = spawnSync('wrangler', args, { stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
}
