/**
 * The protect script, first-party on the site's own pages: opens the session, reports telemetry, and repeats requests
 * of the page's scripts that the gate challenged. It calls only endpoints beside it, below `/__protect/`.
 */
import { solveInDialog } from './protect/challenge-dialog.ts';
import { activated, onNetworkChange } from './protect/tabs.ts';
import { recoverFetch, recoverXhr } from './protect/recover-requests.ts';
import { Recovery } from './protect/recovery.ts';
import { startWorker } from './pow/pow-engine.ts';
import { preparePow } from './pow/pow-runner.ts';
import type { Collect } from './environment.ts';
import { assetUrl, loadAsset } from './loading/asset-loader.ts';
import { scriptLocation } from './loading/script-location.ts';
import { sessionGate } from './protect/session-gate.ts';
import { SessionOpener } from './protect/session-opener.ts';
import { reportTelemetry } from './protect/telemetry.ts';
import { cookieSessionId } from './session-cookie.ts';

export interface GatehouseProtect {
  /** Id of the visitor's session, or `null` without one. */
  readonly jti: string | null;
  /** Resolves with whether the first session could be opened. */
  readonly ready: Promise<boolean>;
}

declare global {
  interface Window {
    gatehouseProtect?: GatehouseProtect;
  }
}

/** Nonce of the page load. The challenge page, which loads this script later, has it in its markup. */
function loadNonce(): string | undefined {
  const script = document.currentScript as HTMLScriptElement | null;
  return script?.src.split('#')[1] ?? document.getElementById('gatehouse')?.dataset['session'];
}

if (window.gatehouseProtect === undefined) {
  const script = scriptLocation();
  const sessions = new SessionOpener({
    url: `${script.base}/session`,
    load: loadNonce(),
    prepare: (signal) => preparePow(script, startWorker, signal),
    // Loaded only now. Without it no report is collected, and without a report no session is opened.
    async collect(asked) {
      const collect = await loadAsset<Collect>(script, 'environment');
      return collect(assetUrl(script.base, 'environment'), asked);
    },
  });
  const recovery = new Recovery(sessions, (order) => solveInDialog(script, order));
  const isGuarded = (url: string): boolean => {
    try {
      const { origin, href } = new URL(url, document.baseURI);
      return origin === location.origin && !href.startsWith(`${script.base}/`);
    } catch {
      return false;
    }
  };
  const ready = activated().then(() => sessions.begin());
  window.gatehouseProtect = {
    get jti() {
      return cookieSessionId();
    },
    ready,
  };
  recoverFetch(window, recovery, isGuarded);
  recoverXhr(window, recovery, isGuarded);
  const holdUntil = sessionGate();
  holdUntil(ready);
  const renew = (): void => holdUntil(ready.then(() => sessions.renew()));
  // A session is bound to the network that it was opened from.
  onNetworkChange(renew);
  // Without this, the form of a page that was open for an hour would be sent with an expired session.
  const fillsIn = ({ target }: Event): void => {
    if (target !== null && 'form' in target) sessions.keep(holdUntil);
  };
  for (const type of ['input', 'focusin']) addEventListener(type, fillsIn, { capture: true, passive: true });
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void sessions.resume();
  });
  window.addEventListener('pagehide', () => sessions.leave());
  void reportTelemetry(script.base, ready, renew);
}
