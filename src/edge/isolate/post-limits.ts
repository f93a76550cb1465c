/** Posts to `/__protect/*` per network and minute, counted in this isolate. */
import { addressPrefix } from '../../address/visitor-binding.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';

/** A household behind one address solves a few challenges a minute; an office some dozens. */
const POSTS_PER_WINDOW_MAX = 300;
const WINDOW_MS = 60_000;
const PREFIXES_MAX = 10_000;
export const POST_LIMIT_SECONDS = WINDOW_MS / 1000;

export class PostLimits {
  readonly #windows = new BoundedMap<{ openedAtMs: number; posts: number }>(PREFIXES_MAX);

  /** Counts one post. False: the network has used up its minute. */
  take(ip: string | null, nowMs: number): boolean {
    const prefix = addressPrefix(ip);
    const window = this.#windows.get(prefix);
    if (window && nowMs - window.openedAtMs <= WINDOW_MS) return ++window.posts <= POSTS_PER_WINDOW_MAX;
    this.#windows.set(prefix, { openedAtMs: nowMs, posts: 1 });
    return true;
  }
}
