/**
 * The edge against any service that implements the documented interface (`src/edge/wrangler.any-service.toml`). It compiles that
 * service's rules itself and carries all files and languages, because such a service has none of them.
 */
import { pageLanguages } from '../locales/pages.generated.ts';
import { edgeAssets, pageAssets } from '../widget/bundle.generated.ts';
import { KvUpstream, syncFromManagementApi } from './feed/management-api.ts';
import { edgeWorker } from './app.ts';

export default edgeWorker({
  rulesSource: 'management-api',
  otherConfig: 'wrangler.toml',
  languages: pageLanguages,
  files: { ...edgeAssets, ...pageAssets },
  upstream: ({ kv, seal }) => new KvUpstream(kv, seal),
  async keepLastKnownGood({ environment, kv, seal, count }) {
    const { rules, serviceUrl } = environment;
    const isSynced =
      rules.kind === 'management-api' &&
      (await syncFromManagementApi({ ...rules, serviceUrl, kv, seal, count, fetch: (request) => fetch(request) }));
    return isSynced ? [] : ['rules'];
  },
});
