/** The account's Protect instances, loaded once, and the one that the views are about: `?site=` in the address. */
import { signal } from '@preact/signals';
import { call, type Loaded, type Refusal } from '../api/call.ts';
import type { Schema } from '../api/service-api.ts';
import type { Params } from '../url/params.ts';

export type Instance = Schema<'Instance'>;

export const instances = signal<{ list: readonly Instance[] | null; error: Refusal | null }>({
  list: null,
  error: null,
});

export async function loadInstances(): Promise<void> {
  const answer = await call('/protect/instances', {});
  instances.value = answer.ok
    ? { list: answer.value, error: null }
    : { list: instances.value.list, error: answer.error };
}

/** The instances as a view shows them, which `loadInstances` has loaded. */
export function instancesLoaded(): Loaded<readonly Instance[]> {
  const { list, error } = instances.value;
  return {
    value: list,
    error,
    isLoading: list === null && error === null,
    reload: () => void loadInstances(),
    calls: [{ method: 'POST', path: '/protect/instances', body: {} }],
  };
}

/** The body of a call about the chosen instance. Until the instances are known, the call could be about another one. */
export function whenKnown<Body>(body: Body): Body | null {
  return instances.value.list === null ? null : body;
}

export function choosableInstances(): readonly Instance[] {
  return (instances.value.list ?? []).filter(({ active }) => active);
}

/** The chosen instance, or the oldest active one, as the API chooses. `null` while unknown, and without instances. */
export function shownInstance(params: Params): Instance | null {
  const active = choosableInstances();
  return active.find(({ globalSiteKey }) => globalSiteKey === params['site']) ?? active[0] ?? null;
}

export function instanceAddress({ id }: Pick<Instance, 'id'>): string {
  return `/console/instances/${encodeURIComponent(id)}`;
}

/** For calls: `siteKey` of the chosen instance. */
export function siteOf(params: Params): { siteKey?: string } {
  const instance = shownInstance(params);
  return instance === null ? {} : { siteKey: instance.globalSiteKey };
}

/** For links to another view about the same instance. */
export function siteParam(params: Params): { site?: string } {
  return params['site'] === undefined ? {} : { site: params['site'] };
}
