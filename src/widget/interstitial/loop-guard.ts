/**
 * Stops a challenge page from solving again and again. In a browser that keeps no cookies, every solved challenge leads
 * to the next one. Passes are counted per tab; too many in a minute stop the automatic start.
 */

const KEY = 'gatehouse.passes';
const WINDOW_MS = 60_000;
/** Two can be chance (another tab, another clearance level); the third pass in a minute is a loop. */
const PASSES_MAX = 3;

export function cookiesWork(): boolean {
  if (!navigator.cookieEnabled) return false;
  try {
    // Tabs that a browser restores do this at the same moment. None may remove the cookie of another.
    const probe = `gatehouse_probe_${Math.random().toString(36).slice(2)}=1; SameSite=Lax; Path=/`;
    document.cookie = probe;
    const isKept = document.cookie.includes(probe.split(';', 1)[0]!);
    document.cookie = `${probe}; Max-Age=0`;
    return isKept;
  } catch {
    return false;
  }
}

export function isLooping(nowMs: number): boolean {
  return recentPasses(nowMs).length >= PASSES_MAX;
}

export function countPass(nowMs: number): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...recentPasses(nowMs), nowMs].slice(-PASSES_MAX)));
  } catch {
    // Where storage is refused, so are cookies, and `cookiesWork` is false.
  }
}

export function forgetPasses(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // As above.
  }
}

/** Times of the passes in the last minute. */
function recentPasses(nowMs: number): number[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept.filter((atMs): atMs is number => typeof atMs === 'number' && atMs <= nowMs && nowMs - atMs < WINDOW_MS);
  } catch {
    return [];
  }
}
