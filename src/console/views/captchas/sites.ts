/** The account's sites, for views about captchas: a captcha belongs to a site and not to an instance. */
import { type Loaded, useCall } from '../../api/call.ts';
import { session } from '../../api/session.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import type { Params } from '../../url/params.ts';

export type SiteList = ResponseOf<'/sites/get'>;

export function useSites(): Loaded<SiteList> {
  return useCall('/sites/get', {});
}

/** Options of a field that chooses a site. */
export function siteOptions(sites: SiteList | null): readonly (readonly [key: string, name: string])[] {
  return (sites ?? []).map(({ siteKey, name, active }) => [siteKey, active ? name : `${name} (inactive)`]);
}

/** In the address as `captchaSite`: `site` is the instance of the frame. */
export function chosenSite(params: Params): string | undefined {
  return params['captchaSite'] || undefined;
}

/** The API requires both and ignores them: clients of similar services send them. */
export function ignoredFields(): { token: string; accountId: string } {
  const state = session.value;
  return { token: 'console', accountId: state.kind === 'signed-in' ? state.user.account.id : 'console' };
}
