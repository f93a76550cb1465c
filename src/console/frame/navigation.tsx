/** The navigation: what happens, what decides, what is protected, and who has access. */
import { useLocation } from 'preact-iso/router';
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
      { text: 'Verdicts', path: '/console/verdicts' },
      { text: 'Find', path: '/console/find' },
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
