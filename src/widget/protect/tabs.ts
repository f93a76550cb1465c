/** What a tab waits for before it works: the other tabs of the site, its visitor, and another network. */

const LOCK = 'gatehouse.session';
/** Longer than a slow phone works, shorter than a visitor waits. */
const WAIT_MAX_MS = 5000;

/**
 * Runs something in one tab of the site at a time, so that tabs that open together share one session instead of each
 * earning its own. Browsers offer the lock over https only. Without it, or when the tab that holds it was put to sleep,
 * every tab works for itself.
 */
export async function inOneTab<Value>(work: () => Promise<Value>, lock = LOCK): Promise<Value> {
  const { locks } = navigator as { locks?: LockManager };
  if (locks === undefined) return work();
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), WAIT_MAX_MS);
  let hasBegun = false;
  try {
    return await locks.request(lock, { signal: waiting.signal }, () => {
      hasBegun = true;
      clearTimeout(timer);
      return work();
    });
  } catch (error) {
    // A frame without an origin of its own has no locks, and says so only when asked.
    if (hasBegun) throw error;
    return work();
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A browser may prepare a page that nobody has opened yet (prerendering). Such a page does no work and reports nothing
 * until it is shown: the visitor may never come.
 */
export function activated(): Promise<void> {
  if ((document as Document & { prerendering?: boolean }).prerendering !== true) return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener('prerenderingchange', () => resolve(), { once: true });
  });
}

/**
 * Calls back when the browser is back on a network, or on one of another kind: from Wi-Fi to mobile. Only mobile
 * browsers tell the kind. What the connection achieves changes all the time and says nothing.
 */
export function onNetworkChange(changed: () => void): void {
  addEventListener('online', changed);
  const { connection } = navigator as { connection?: EventTarget & { type?: string } };
  let kind = connection?.type;
  connection?.addEventListener('change', () => {
    if (connection.type !== kind && connection.type !== 'none') changed();
    kind = connection.type;
  });
}
