/** The navigation: what happens, what decides and what is set up; and above each view, the views beside it. */
import { useLocation } from 'preact-iso/router';
import { may } from '../api/session.ts';
import { addressOf } from '../url/params.ts';
import { docsOf, type Entry, groups, isWithin, placeOf } from './console-pages.ts';
import { siteParam } from './instances.ts';

const shownPages = ({ pages }: Entry) => pages.filter(({ needs }) => needs === undefined || may(...needs));

export function Navigation() {
  const { path, query } = useLocation();
  const current = placeOf(path)?.entry;
  return (
    <nav class="nav" aria-label="Console">
      <a class="brand" href={addressOf('/console', siteParam(query))}>
        Gatehouse
      </a>
      {groups.map(({ title, entries }) => (
        <section key={title} aria-label={title}>
          <h2>{title}</h2>
          <ul>
            {entries.map((entry) => {
              const [first] = shownPages(entry);
              return (
                first !== undefined && (
                  <li key={entry.text}>
                    <a
                      href={addressOf(first.path, siteParam(query))}
                      aria-current={entry === current ? 'page' : undefined}
                    >
                      {entry.text}
                    </a>
                  </li>
                )
              );
            })}
          </ul>
        </section>
      ))}
    </nav>
  );
}

/** The pages of the current entry, and the documentation of this one. */
export function BesidePages() {
  const { path, query } = useLocation();
  const place = placeOf(path);
  const pages = place === null ? [] : shownPages(place.entry);
  return (
    <nav class="beside" aria-label="Beside this page">
      {pages.length > 1 && (
        <div class="tabs">
          {pages.map(({ text, path: target }) => (
            <a
              key={target}
              href={addressOf(target, siteParam(query))}
              aria-current={isWithin(path, target) ? 'page' : undefined}
            >
              {text}
            </a>
          ))}
        </div>
      )}
      <a class="docs-link" href={docsOf(path)} target="_blank">
        Documentation
      </a>
    </nav>
  );
}
