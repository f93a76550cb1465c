/** The views about alerts. Both keep the chosen instance. */
import { useLocation } from 'preact-iso/router';
import { Tabs } from '../../components/tabs.tsx';
import { siteParam } from '../../frame/instances.ts';
import { addressOf } from '../../url/params.ts';

const tabs = [
  ['What happened', '/console/alerts'],
  ['Channels', '/console/alerts/channels'],
] as const;

export function AlertTabs() {
  const { path, query } = useLocation();
  return (
    <Tabs
      label="Alerts"
      tabs={tabs.map(([text, target]) => ({
        text,
        href: addressOf(target, siteParam(query)),
        isCurrent: path === target,
      }))}
    />
  );
}
