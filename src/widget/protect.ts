/**
 * The protect script (design 3.3, 6), first-party on the site's own pages: opens the session, reports
 * telemetry, and gets the page's own requests through the gate. Everything it talks to lies beside
 * it under `/__protect/`.
 */
import { solveInDialog } from './protect/challenge-dialog.ts';
import { recoverFetch } from './protect/recover-fetch.ts';
import { recoverXhr } from './protect/recover-xhr.ts';
import { Recovery } from './protect/recovery.ts';
import { scriptLocation } from './script-location.ts';
import { gateUntil } from './protect/session-gate.ts';
import { sessionId, SessionOpener } from './protect/session-opener.ts';
import { reportTelemetry } from './protect/telemetry.ts';

export interface GatehouseProtect {
  /** Id of the visitor's session, or `null` without one. */
  readonly jti: string | null;
  /** Resolves once the first session is open, or could not be. */
  readonly ready: Promise<boolean>;
}

declare global {
  interface Window {
    gatehouseProtect?: GatehouseProtect;
  }
}

if (window.gatehouseProtect === undefined) {
  const script = scriptLocation();
  const sessions = new SessionOpener(script.base);
  const recovery = new Recovery(sessions, (order) => solveInDialog(script, order));
  const isGuarded = (url: string): boolean => {
    try {
      const { origin, href } = new URL(url, document.baseURI);
      return origin === location.origin && !href.startsWith(`${script.base}/`);
    } catch {
      return false;
    }
  };
  const ready = sessions.ensure();
  window.gatehouseProtect = {
    get jti() {
      return sessionId();
    },
    ready,
  };
  recoverFetch(window, recovery, isGuarded);
  recoverXhr(window, recovery, isGuarded);
  gateUntil(ready);
  void reportTelemetry(script.base, ready);
}
