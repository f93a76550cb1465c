/**
 * The colo cache as a part store: the next isolate in the same place finds what one isolate fetched. A cache that throws or
 * holds garbage is a miss.
 */
import type { Count } from './upstream.ts';
import type { Bytes, PartStore } from './stored-parts.ts';

/** Files are named by their content, and the cache evicts them when it needs room. */
const CONTENT_MAX_AGE_SECONDS = 86_400;
/** Never resolved: the Cache API needs an address, and no one can own a name under `.invalid`. */
const CACHE_ORIGIN = 'https://gatehouse.invalid';

export class ColoCache implements PartStore {
  readonly #scope: string;
  readonly #count: Count;

  /** `scope` keeps instances that share a zone's cache apart. */
  constructor(scope: string, count: Count) {
    this.#scope = encodeURIComponent(scope);
    this.#count = count;
  }

  async get(name: string): Promise<Bytes | null> {
    try {
      const cache = await caches.open('gatehouse');
      const found = await cache.match(this.#address(name));
      return found ? new Uint8Array(await found.arrayBuffer()) : null;
    } catch {
      this.#count('cache_failures{operation="get"}');
      return null;
    }
  }

  async put(name: string, bytes: Bytes, maxAgeSeconds: number | null): Promise<boolean> {
    try {
      const cache = await caches.open('gatehouse');
      const age = Math.max(1, Math.floor(maxAgeSeconds ?? CONTENT_MAX_AGE_SECONDS));
      await cache.put(
        this.#address(name),
        new Response(bytes, { headers: { 'cache-control': `public, max-age=${age}` } }),
      );
      return true;
    } catch {
      this.#count('cache_failures{operation="put"}');
      return false;
    }
  }

  #address(name: string): string {
    return `${CACHE_ORIGIN}/${this.#scope}/${name}`;
  }
}
