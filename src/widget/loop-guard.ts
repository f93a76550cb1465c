/**
 * Tells a browser that keeps nothing from one that passes: where cookies are off, every solved
 * challenge is answered by the next one, for ever (the best-known complaint about such pages). Passes
 * are counted per tab; too many in a minute stop the automatic way.
 */

const KEY = 'gatehouse.passes';
const WINDOW_MS = 60_000;
/** Two can be chance (another tab, another clearance level); the third pass in a minute is a loop. */
const PASSES_MAX = 3;

export function cookiesWork(): boolean {
  if (!navigator.cookieEnabled) return false;
  try {
    document.cookie = 'gatehouse_probe=1; SameSite=Lax; Path=/';
    const kept = document.cookie.includes('gatehouse_probe=1');
    document.cookie = 'gatehouse_probe=; SameSite=Lax; Path=/; Max-Age=0';
    return kept;
  } catch {
    return false;
  }
}

export function isLooping(now: number): boolean {
  return recentPasses(now).length >= PASSES_MAX;
}

export function notePass(now: number): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...recentPasses(now), now].slice(-PASSES_MAX)));
  } catch {
    // Storage refused: `cookiesWork` has said so already.
  }
}

export function forgetPasses(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // As above.
  }
}

function recentPasses(now: number): number[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept.filter((at): at is number => typeof at === 'number' && at <= now && now - at < WINDOW_MS);
  } catch {
    return [];
  }
}
