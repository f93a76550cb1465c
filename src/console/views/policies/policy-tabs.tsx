/** The views about policies. All of them keep the chosen instance. */
import { useLocation } from 'preact-iso/router';
import { Tabs } from '../../components/tabs.tsx';
import { siteParam } from '../../frame/instances.ts';
import { addressOf } from '../../url/params.ts';

const tabs = [
  ['Policies', '/console/policies'],
  ['Try', '/console/policies/try'],
  ['Import', '/console/policies/import'],
  ['History', '/console/policies/history'],
] as const;

export function PolicyTabs() {
  const { path, query } = useLocation();
  return (
    <Tabs
      label="Policies"
      tabs={tabs.map(([text, target]) => ({
        text,
        href: addressOf(target, siteParam(query)),
        isCurrent: path === target,
      }))}
    />
  );
}
