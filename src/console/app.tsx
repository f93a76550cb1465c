/**
 * The frame of the console: who is signed in, which instance is chosen, the navigation, and the view of the address.
 * Each view is loaded when it is first opened.
 */
import type { ComponentType } from 'preact';
import lazy, { ErrorBoundary } from 'preact-iso/lazy';
import { LocationProvider, Route, Router } from 'preact-iso/router';
import { useEffect, useState } from 'preact/hooks';
import { takeArrival } from './api/entry.ts';
import { beginSignIn, loadSession, session } from './api/session.ts';
import { Button } from './components/button.tsx';
import { EmptyState, Page, RefusalNotice } from './components/page.tsx';
import { Toasts } from './components/toast.tsx';
import { BesidePages, Navigation } from './frame/navigation.tsx';
import { TopBar } from './frame/top-bar.tsx';

/** A view that loads when it is first opened. Its file is gone after an update, and out of reach without a network. */
function view(load: () => Promise<{ default: ComponentType }>) {
  return lazy(() => load().catch(() => ({ default: NotLoaded })));
}

const SignIn = lazy(() => import('./views/sign-in/sign-in.tsx'));
const DisabledAccount = lazy(() => import('./views/sign-in/disabled-account.tsx'));

const views: readonly (readonly [path: string, view: ComponentType])[] = [
  ['/console', view(() => import('./views/overview/overview.tsx'))],
  ['/console/verdicts', view(() => import('./views/verdicts/verdicts.tsx'))],
  ['/console/verdicts/:requestId', view(() => import('./views/verdict/verdict.tsx'))],
  ['/console/tail', view(() => import('./views/tail/tail.tsx'))],
  ['/console/sessions', view(() => import('./views/sessions/sessions.tsx'))],
  ['/console/sessions/:jti', view(() => import('./views/session/session.tsx'))],
  ['/console/captchas', view(() => import('./views/captchas/captchas.tsx'))],
  ['/console/captchas/search', view(() => import('./views/captcha-search/captcha-search.tsx'))],
  ['/console/bots', view(() => import('./views/bots/bot-traffic.tsx'))],
  ['/console/bots/policy', view(() => import('./views/bots/bot-policy.tsx'))],
  ['/console/bots/robots', view(() => import('./views/bots/robots-file.tsx'))],
  ['/console/bots/lists', view(() => import('./views/bots/lists.tsx'))],
  ['/console/find', view(() => import('./views/find/find.tsx'))],
  ['/console/rules', view(() => import('./views/rules/rules.tsx'))],
  ['/console/rules/of/:type', view(() => import('./views/rules/one-rule.tsx'))],
  ['/console/rules/explain', view(() => import('./views/rules/explain.tsx'))],
  ['/console/rules/import', view(() => import('./views/rules/import-rules.tsx'))],
  ['/console/rules/history', view(() => import('./views/rules/history.tsx'))],
  ['/console/lists', view(() => import('./views/lists/lists.tsx'))],
  ['/console/lists/:name', view(() => import('./views/lists/one-list.tsx'))],
  ['/console/policies', view(() => import('./views/policies/policies.tsx'))],
  ['/console/policies/try', view(() => import('./views/policies/try-policies.tsx'))],
  ['/console/policies/import', view(() => import('./views/policies/policy-import.tsx'))],
  ['/console/policies/history', view(() => import('./views/policies/policy-history.tsx'))],
  ['/console/limits', view(() => import('./views/limits/limits.tsx'))],
  ['/console/instances', view(() => import('./views/instances/instances.tsx'))],
  ['/console/instances/:id', view(() => import('./views/instances/instance.tsx'))],
  ['/console/sites', view(() => import('./views/sites/sites.tsx'))],
  ['/console/sites/:siteKey', view(() => import('./views/sites/site.tsx'))],
  ['/console/access-control', view(() => import('./views/access-control/access-control.tsx'))],
  ['/console/guide', view(() => import('./views/guide/guide.tsx'))],
  ['/console/health', view(() => import('./views/health/health.tsx'))],
  ['/console/alerts', view(() => import('./views/alerts/alerts.tsx'))],
  ['/console/alerts/channels', view(() => import('./views/alerts/channels.tsx'))],
  ['/console/users', view(() => import('./views/access/users.tsx'))],
  ['/console/api-keys', view(() => import('./views/access/api-keys.tsx'))],
  ['/console/audit-trail', view(() => import('./views/access/audit-trail.tsx'))],
  ['/console/security', view(() => import('./views/security/security.tsx'))],
];

/** Read once: it is taken off the address. */
const entry = takeArrival();

export function App() {
  useEffect(() => (entry.kind === 'plain' ? void loadSession() : beginSignIn()), []);
  return (
    <>
      <Content />
      <Toasts />
    </>
  );
}

function Content() {
  const state = session.value;
  // Nothing flashes before the service has said who is signed in.
  if (state.kind === 'unknown') return null;
  if (state.kind === 'failed') {
    return (
      <div class="centre">
        <main>
          <h1>Gatehouse</h1>
          <RefusalNotice error={state.error} onRetry={() => void loadSession()} />
        </main>
      </div>
    );
  }
  if (state.kind === 'signed-in' && state.user.account.disabled) {
    return (
      <ErrorBoundary>
        <DisabledAccount user={state.user} />
      </ErrorBoundary>
    );
  }
  if (state.kind === 'signed-in') return <Frame />;
  // A link is used once: after it, somebody who is signed out again begins afresh.
  const isFirst = !state.hasEnded && !state.hasLeft;
  return (
    <ErrorBoundary>
      <SignIn
        key={`${state.hasEnded} ${state.hasLeft}`}
        entry={isFirst ? entry : { kind: 'plain' }}
        hasEnded={state.hasEnded}
        hasLeft={state.hasLeft}
      />
    </ErrorBoundary>
  );
}

function Frame() {
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  return (
    <LocationProvider scope="/console">
      <div class="frame" data-menu={isMenuOpen ? 'open' : 'closed'}>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <TopBar isMenuOpen={isMenuOpen} onMenu={() => setIsMenuOpen(!isMenuOpen)} />
        <Navigation />
        <BesidePages />
        <ErrorBoundary>
          <Router onRouteChange={() => setIsMenuOpen(false)}>
            {views.map(([path, component]) => (
              <Route key={path} path={path} component={component} />
            ))}
            <Route default component={NotFound} />
          </Router>
        </ErrorBoundary>
      </div>
    </LocationProvider>
  );
}

function NotLoaded() {
  return (
    <Page title="Not loaded">
      <EmptyState title="This page could not be loaded">
        <p>The service cannot be reached, or has a newer version of the console.</p>
        <Button kind="primary" onClick={() => location.reload()}>
          Load it again
        </Button>
      </EmptyState>
    </Page>
  );
}

function NotFound() {
  return (
    <Page title="No such page">
      <EmptyState title="The console has no page at this address">
        <p>
          Start again from the <a href="/console">overview</a>.
        </p>
      </EmptyState>
    </Page>
  );
}
