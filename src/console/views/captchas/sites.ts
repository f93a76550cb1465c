/** The account's sites, for views about captchas: a captcha belongs to a site and not to an instance. */
import { type Loaded, useCall } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import type { Params } from '../../url/params.ts';

export type SiteList = ResponseOf<'/sites/get'>;

export function useSites(): Loaded<SiteList> {
  return useCall('/sites/get', {});
}

/** Options of a field that chooses a site; the first stands for all. */
export function siteOptions(sites: SiteList | null): readonly (readonly [key: string, name: string])[] {
  return [
    ['', 'every site'] as const,
    ...(sites ?? []).map(({ siteKey, name, active }) => [siteKey, active ? name : `${name} (inactive)`] as const),
  ];
}

/** In the address as `captchaSite`: `site` is the instance of the frame. */
export function chosenSite(params: Params): string | undefined {
  return params['captchaSite'] || undefined;
}
