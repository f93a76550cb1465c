/** How far the installation is, as the system itself sees it. Asked every few seconds, so that each step ends by itself. */
import { useEffect } from 'preact/hooks';
import { together, useCall } from '../../api/call.ts';
import { shownInstance, instancesLoaded, loadInstances } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import { edgesFinding } from '../health/findings.ts';

const EVERY_MS = 3000;

export function useProgress() {
  const [params] = useParams();
  const instance = shownInstance(params);
  const sites = useCall('/sites/get', {}, { everyMs: EVERY_MS });
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void loadInstances();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const active = (sites.value ?? []).filter((one) => one.active);
  const site = active.find(({ siteKey }) => siteKey === instance?.globalSiteKey) ?? active[0] ?? null;
  const ofInstance = instance === null ? null : { protectInstanceId: instance.id };
  const jwts = useCall('/protect/client-jwt/list', ofInstance, { everyMs: EVERY_MS });
  const edges = useCall('/protect/edges', ofInstance, { everyMs: EVERY_MS });
  const newest = useCall(
    '/protect/verdicts',
    instance === null ? null : { siteKey: instance.globalSiteKey, limit: 1, includeInternal: false },
    { everyMs: EVERY_MS },
  );
  return {
    site,
    instance,
    hasClientJwt: jwts.value?.clientJwts.some(({ status }) => status === 'active') === true,
    /** Epoch milliseconds of the newest contact of an edge. */
    edgeContactAt: edges.value === null ? null : edgesFinding(edges.value.edges).lastContactAt,
    /** Epoch milliseconds of a visitor's newest request. */
    newestRequestAt: newest.value?.verdicts[0]?.timestamp ?? null,
    isEnforcing: instance?.monitor === false,
    loaded: together<readonly unknown[]>(sites, instancesLoaded(), jwts, edges, newest),
  };
}
