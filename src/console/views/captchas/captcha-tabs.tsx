/** The two views about captchas. Both keep the chosen site and time. */
import { useLocation } from 'preact-iso/router';
import { Tabs } from '../../components/tabs.tsx';
import { addressOf } from '../../url/params.ts';

const tabs = [
  ['Numbers', '/console/captchas'],
  ['Search', '/console/captchas/search'],
] as const;

export function CaptchaTabs() {
  const { path, query } = useLocation();
  const { site, captchaSite, range, from, to } = query;
  return (
    <Tabs
      label="Captchas"
      tabs={tabs.map(([text, target]) => ({
        text,
        href: addressOf(target, { site, captchaSite, range, from, to }),
        isCurrent: path === target,
      }))}
    />
  );
}
