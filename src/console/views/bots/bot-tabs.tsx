/** The views about bots. All of them keep the chosen instance, and those with a time keep the time. */
import { useLocation } from 'preact-iso/router';
import { Tabs } from '../../components/tabs.tsx';
import { addressOf } from '../../url/params.ts';

const tabs = [
  ['Traffic', '/console/bots'],
  ['Policy', '/console/bots/policy'],
  ['robots.txt', '/console/bots/robots'],
  ['Lists', '/console/bots/lists'],
] as const;

export function BotTabs() {
  const { path, query } = useLocation();
  const { site, range, from, to } = query;
  return (
    <Tabs
      label="Bots"
      tabs={tabs.map(([text, target]) => ({
        text,
        href: addressOf(target, { site, range, from, to }),
        isCurrent: path === target,
      }))}
    />
  );
}
