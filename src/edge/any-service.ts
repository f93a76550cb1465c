/**
 * The edge against any service that keeps the interface document (design 4, `wrangler.any-service.toml`):
 * it compiles that service's rules itself and carries its files and languages, since such a service
 * has none of them to give.
 */
import { edgeAssets, pageAssets } from '../widget/bundle.generated.ts';
import { KvUpstream, syncFromManagementApi } from './feed/management-api.ts';
import { readManagementRules } from './isolate/management-rules.ts';
import { pageLanguages } from '../locales/pages.generated.ts';
import { edgeWorker } from './worker.ts';

export default edgeWorker({
  rulesSource: 'management-api',
  otherConfig: 'wrangler.toml',
  readRules: readManagementRules,
  languages: pageLanguages,
  files: { ...edgeAssets, ...pageAssets },
  upstream: ({ kv, seal }) => new KvUpstream(kv, seal),
  async keepLastKnownGood({ environment, kv, seal, count }) {
    const { rules, serviceUrl } = environment;
    if (rules.kind !== 'management-api') return false;
    return syncFromManagementApi({ ...rules, serviceUrl, kv, seal, count, fetch: (request) => fetch(request) });
  },
});
