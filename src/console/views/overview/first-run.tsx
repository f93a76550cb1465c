/** The installation guide in place of an overview without anything to show. Loaded only then. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import { type Instance, instances } from '../../frame/instances.ts';
import { visitorSources } from '../../../contract/vocabulary.ts';

const RETRY_MS = 3000;

/**
 * Whether no visitor's request ever arrived. It stays so until the view is left: people who follow the guide go on with
 * the steps after the first request.
 */
export function useIsFirstRun(instance: Instance | null): boolean {
  const newest = useCall(
    '/protect/verdicts',
    instance === null ? null : { siteKey: instance.globalSiteKey, limit: 1, sources: visitorSources },
  );
  // Nothing else on the page would tell somebody who has no traffic that this call failed.
  useEffect(() => {
    if (newest.error === null) return;
    const timer = setTimeout(newest.reload, RETRY_MS);
    return () => clearTimeout(timer);
  }, [newest.error]);
  const id = instance?.id ?? null;
  const isEmpty = id === null ? instances.value.list !== null : newest.value?.verdicts.length === 0;
  // `null`: it began without any instance, and the one that came since belongs to it.
  const [began, setBegan] = useState<string | null | undefined>();
  useEffect(() => {
    if (isEmpty) setBegan((former) => (former === null ? null : id));
  }, [isEmpty, id]);
  return isEmpty || began === null || (began !== undefined && began === id);
}

export function FirstRun() {
  const [Steps, setSteps] = useState<ComponentType | null>(null);
  useEffect(() => {
    import('../guide/guide.tsx').then(
      ({ Installation }) => setSteps(() => Installation),
      // The address of its own still leads there, once the network is back.
      () => undefined,
    );
  }, []);
  return Steps === null ? <a href="/console/guide">Installation guide</a> : <Steps />;
}
