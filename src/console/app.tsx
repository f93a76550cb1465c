/**
 * The frame of the console: who is signed in, which instance is chosen, the navigation, and the view of the address.
 * Each view is loaded when it is first opened.
 */
import type { ComponentType } from 'preact';
import lazy, { ErrorBoundary } from 'preact-iso/lazy';
import { LocationProvider, Route, Router } from 'preact-iso/router';
import { useEffect, useState } from 'preact/hooks';
import { takeEntry } from './api/entry.ts';
import { beginSignIn, loadSession, session } from './api/session.ts';
import { Button } from './components/button.tsx';
import { EmptyState, Page, RefusalNotice } from './components/page.tsx';
import { Toasts } from './components/toast.tsx';
import { Navigation } from './frame/navigation.tsx';
import { TopBar } from './frame/top-bar.tsx';

/** A view that loads when it is first opened. Its file is gone after an update, and out of reach without a network. */
function view(load: () => Promise<{ default: ComponentType }>) {
  return lazy(() => load().catch(() => ({ default: NotLoaded })));
}

const SignIn = lazy(() => import('./views/sign-in/sign-in.tsx'));
const DisabledAccount = lazy(() => import('./views/sign-in/disabled-account.tsx'));
const Security = view(() => import('./views/security/security.tsx'));
const Overview = view(() => import('./views/overview/overview.tsx'));
const Verdicts = view(() => import('./views/verdicts/verdicts.tsx'));
const Verdict = view(() => import('./views/verdict/verdict.tsx'));
const LiveTail = view(() => import('./views/tail/tail.tsx'));
const Sessions = view(() => import('./views/sessions/sessions.tsx'));
const Session = view(() => import('./views/session/session.tsx'));
const Captchas = view(() => import('./views/captchas/captchas.tsx'));
const CaptchaSearch = view(() => import('./views/captcha-search/captcha-search.tsx'));
const BotTraffic = view(() => import('./views/bots/bot-traffic.tsx'));
const BotPolicy = view(() => import('./views/bots/bot-policy.tsx'));
const RobotsFile = view(() => import('./views/bots/robots-file.tsx'));
const BotLists = view(() => import('./views/bots/lists.tsx'));
const Find = view(() => import('./views/find/find.tsx'));
const Rules = view(() => import('./views/rules/rules.tsx'));
const ImportRules = view(() => import('./views/rules/import-rules.tsx'));
const RuleHistory = view(() => import('./views/rules/history.tsx'));
const OneRule = view(() => import('./views/rules/one-rule.tsx'));
const Explain = view(() => import('./views/rules/explain.tsx'));
const Lists = view(() => import('./views/lists/lists.tsx'));
const OneList = view(() => import('./views/lists/one-list.tsx'));
const Policies = view(() => import('./views/policies/policies.tsx'));
const PolicyHistory = view(() => import('./views/policies/policy-history.tsx'));
const ImportPolicies = view(() => import('./views/policies/policy-import.tsx'));
const TryPolicies = view(() => import('./views/policies/try-policies.tsx'));
const Limits = view(() => import('./views/limits/limits.tsx'));
const Instances = view(() => import('./views/instances/instances.tsx'));
const Instance = view(() => import('./views/instances/instance.tsx'));
const Sites = view(() => import('./views/sites/sites.tsx'));
const Site = view(() => import('./views/sites/site.tsx'));
const AccessControl = view(() => import('./views/access-control/access-control.tsx'));
const Guide = view(() => import('./views/guide/guide.tsx'));
const Health = view(() => import('./views/health/health.tsx'));
const Alerts = view(() => import('./views/alerts/alerts.tsx'));
const AlertChannels = view(() => import('./views/alerts/channels.tsx'));
const Users = view(() => import('./views/access/users.tsx'));
const ApiKeys = view(() => import('./views/access/api-keys.tsx'));
const AuditTrail = view(() => import('./views/access/audit-trail.tsx'));

/** Read once: it is taken off the address. */
const entry = takeEntry();

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
        <ErrorBoundary>
          <Router onRouteChange={() => setIsMenuOpen(false)}>
            <Route path="/console" component={Overview} />
            <Route path="/console/verdicts" component={Verdicts} />
            <Route path="/console/verdicts/:requestId" component={Verdict} />
            <Route path="/console/tail" component={LiveTail} />
            <Route path="/console/sessions" component={Sessions} />
            <Route path="/console/sessions/:jti" component={Session} />
            <Route path="/console/captchas" component={Captchas} />
            <Route path="/console/captchas/search" component={CaptchaSearch} />
            <Route path="/console/bots" component={BotTraffic} />
            <Route path="/console/bots/policy" component={BotPolicy} />
            <Route path="/console/bots/robots" component={RobotsFile} />
            <Route path="/console/bots/lists" component={BotLists} />
            <Route path="/console/find" component={Find} />
            <Route path="/console/rules" component={Rules} />
            <Route path="/console/rules/of/:type" component={OneRule} />
            <Route path="/console/rules/explain" component={Explain} />
            <Route path="/console/rules/import" component={ImportRules} />
            <Route path="/console/rules/history" component={RuleHistory} />
            <Route path="/console/lists" component={Lists} />
            <Route path="/console/lists/:name" component={OneList} />
            <Route path="/console/policies" component={Policies} />
            <Route path="/console/policies/try" component={TryPolicies} />
            <Route path="/console/policies/import" component={ImportPolicies} />
            <Route path="/console/policies/history" component={PolicyHistory} />
            <Route path="/console/limits" component={Limits} />
            <Route path="/console/instances" component={Instances} />
            <Route path="/console/instances/:id" component={Instance} />
            <Route path="/console/sites" component={Sites} />
            <Route path="/console/sites/:siteKey" component={Site} />
            <Route path="/console/access-control" component={AccessControl} />
            <Route path="/console/guide" component={Guide} />
            <Route path="/console/health" component={Health} />
            <Route path="/console/alerts" component={Alerts} />
            <Route path="/console/alerts/channels" component={AlertChannels} />
            <Route path="/console/users" component={Users} />
            <Route path="/console/api-keys" component={ApiKeys} />
            <Route path="/console/audit-trail" component={AuditTrail} />
            <Route path="/console/security" component={Security} />
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
