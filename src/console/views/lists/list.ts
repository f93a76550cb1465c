/** A list as the views know it. */
import type { Schema } from '../../api/service-api.ts';
import { addressOf, type Params } from '../../url/params.ts';
import { siteParam } from '../../frame/instances.ts';

export type List = Schema<'RuleList'>;

export function listAddress(name: string, params: Params): string {
  return addressOf(`/console/lists/${encodeURIComponent(name)}`, siteParam(params));
}

/** The fetches of a list go on while somebody looks at it. */
export const LISTS_EVERY_MS = 10_000;
