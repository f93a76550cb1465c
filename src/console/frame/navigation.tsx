/** The navigation: what happens, what decides, what is protected, and who has access. */
import { useLocation } from 'preact-iso/router';
import { may } from '../api/session.ts';
import { addressOf } from '../url/params.ts';
import { siteParam } from './instances.ts';

interface Entry {
  text: string;
  path: string;
  isShown?: () => boolean;
}

const groups: readonly { title: string; entries: readonly Entry[] }[] = [
  {
    title: 'Traffic',
    entries: [
      { text: 'Overview', path: '/console' },
      { text: 'Live tail', path: '/console/tail' },
      { text: 'Verdicts', path: '/console/verdicts' },
      { text: 'Sessions', path: '/console/sessions' },
      { text: 'Captchas', path: '/console/captchas', isShown: () => may('getTraffic', 'searchCaptchaRecords') },
      { text: 'Bots', path: '/console/bots' },
      { text: 'Find', path: '/console/find' },
      { text: 'Health', path: '/console/health' },
      { text: 'Alerts', path: '/console/alerts' },
    ],
  },
  {
    title: 'Decisions',
    entries: [
      { text: 'Edge access rules', path: '/console/rules' },
      { text: 'Lists', path: '/console/lists' },
      { text: 'Policies', path: '/console/policies' },
      { text: 'Limits', path: '/console/limits' },
    ],
  },
  {
    title: 'Protected',
    entries: [
      { text: 'Instances', path: '/console/instances' },
      { text: 'Sites', path: '/console/sites', isShown: () => may('readSites') },
      { text: 'Installation guide', path: '/console/guide' },
      { text: 'Access control', path: '/console/access-control', isShown: () => may('getRules') },
    ],
  },
  {
    title: 'Access',
    entries: [
      { text: 'Security', path: '/console/security' },
      { text: 'Users', path: '/console/users', isShown: () => may('getUsers') },
      { text: 'API keys', path: '/console/api-keys', isShown: () => may('getApiKeys') },
      { text: 'Audit trail', path: '/console/audit-trail', isShown: () => may('getAuditTrail') },
    ],
  },
];

export function Navigation() {
  const { path, query } = useLocation();
  const isCurrent = (target: string) => path === target || (target !== '/console' && path.startsWith(`${target}/`));
  return (
    <nav class="nav" aria-label="Console">
      <a class="brand" href={addressOf('/console', siteParam(query))}>
        Gatehouse
      </a>
      {groups.map(({ title, entries }) => {
        const shown = entries.filter(({ isShown }) => isShown?.() ?? true);
        return (
          shown.length > 0 && (
            <section key={title} aria-label={title}>
              <h2>{title}</h2>
              <ul>
                {shown.map(({ text, path: target }) => (
                  <li key={target}>
                    <a href={addressOf(target, siteParam(query))} aria-current={isCurrent(target) ? 'page' : undefined}>
                      {text}
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          )
        );
      })}
    </nav>
  );
}
