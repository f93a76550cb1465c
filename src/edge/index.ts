/**
 * The edge in front of an origin, with a Gatehouse service behind it (`wrangler.toml`). It carries only what an outage
 * of that service needs: English pages and the scripts of a challenge.
 */
import { edgeAssets } from '../widget/bundle.generated.ts';
import { backUpFiles, backUpToKv } from './feed/kv-backup.ts';
import { edgeWorker } from './app.ts';
import { englishPages } from '../locales/english-pages.generated.ts';

export default edgeWorker({
  rulesSource: 'service',
  otherConfig: 'src/edge/wrangler.any-service.toml',
  languages: { en: englishPages },
  files: edgeAssets,
  upstream: ({ service }) => service,
  async keepLastKnownGood({ service, kv, seal, count, files }) {
    const state = await backUpToKv({ upstream: service, kv, seal, count });
    const served = await backUpFiles(files, kv);
    return [...(state ? [] : (['rules'] as const)), ...(served ? [] : (['files'] as const))];
  },
});
