/** Views of one subject side by side, as links. Each group keeps what its views have in common in their addresses. */
import { useLocation } from 'preact-iso/router';
import { Tabs } from '../components/tabs.tsx';
import { addressOf } from '../url/params.ts';

const groups = {
  Alerts: {
    kept: ['site'],
    tabs: [
      ['What happened', '/console/alerts'],
      ['Channels', '/console/alerts/channels'],
    ],
  },
  Bots: {
    kept: ['site', 'range', 'from', 'to'],
    tabs: [
      ['Traffic', '/console/bots'],
      ['Policy', '/console/bots/policy'],
      ['robots.txt', '/console/bots/robots'],
      ['Lists', '/console/bots/lists'],
    ],
  },
  Captchas: {
    kept: ['site', 'captchaSite', 'range', 'from', 'to'],
    tabs: [
      ['Numbers', '/console/captchas'],
      ['Search', '/console/captchas/search'],
    ],
  },
  Policies: {
    kept: ['site'],
    tabs: [
      ['Policies', '/console/policies'],
      ['Try', '/console/policies/try'],
      ['Import', '/console/policies/import'],
      ['History', '/console/policies/history'],
    ],
  },
} as const;

export function ViewTabs({ of }: { of: keyof typeof groups }) {
  const { path, query } = useLocation();
  const { kept, tabs } = groups[of];
  const params = Object.fromEntries(kept.map((name) => [name, query[name]]));
  return (
    <Tabs
      label={of}
      tabs={tabs.map(([text, target]) => ({ text, href: addressOf(target, params), isCurrent: path === target }))}
    />
  );
}
