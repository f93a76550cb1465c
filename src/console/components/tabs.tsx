/** Views of one thing side by side. Each tab has an address of its own, so the tabs are links. */
import { useLocation } from 'preact-iso/router';
import { addressOf } from '../url/params.ts';

export interface TabsProps {
  label: string;
  tabs: readonly { text: string; href: string; isCurrent: boolean }[];
}

export function Tabs({ label, tabs }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ text, href, isCurrent }) => (
        <a key={href} href={href} aria-current={isCurrent ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

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

/** Views of one subject side by side, as links. Each group keeps what its views have in common in their addresses. */
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
