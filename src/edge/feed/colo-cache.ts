/**
 * The colo cache as a part store: the next isolate in the same place finds what one isolate fetched. A cache that throws or
 * holds garbage is a miss.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import type { Count } from './upstream.ts';
import type { PartStore } from './stored-parts.ts';

/** Files are named by their content, and the cache evicts them when it needs room. */
const CONTENT_MAX_AGE_SECONDS = 86_400;
/** Larger than any part may be. */
const PART_MAX_BYTES = 64 * 1024 * 1024;
/** The platform reads each piece into memory of its own first. Pieces of this size reuse that memory. */
const PIECE_BYTES = 256 * 1024;
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
      return found ? await bytesOf(found) : null;
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

/**
 * The whole body. One with a length is read into its place, piece by piece: `arrayBuffer` collects all of it and copies
 * it then, which takes twice the memory, and for a million rules 8 ms of an isolate's first request. The last byte of the
 * buffer is filled only by a body that is longer than it says; with it the reads end where the body does. An encoded body
 * says how long it was before it was decoded.
 */
async function bytesOf(response: Response): Promise<Bytes> {
  const length = Number(response.headers.get('content-length'));
  const isPlain = !response.headers.has('content-encoding') && length > 0 && length <= PART_MAX_BYTES;
  if (response.body === null || !isPlain) {
    return new Uint8Array(await response.arrayBuffer());
  }
  const reader = response.body.getReader({ mode: 'byob' });
  let buffer = new ArrayBuffer(length + 1);
  let size = 0;
  for (;;) {
    const piece = new Uint8Array(buffer, size, Math.min(PIECE_BYTES, buffer.byteLength - size));
    const wanted = piece.length;
    const { value } = await reader.readAtLeast(wanted, piece);
    // A stream that has ended may keep the buffer.
    if (!value) throw new TypeError('The body broke off');
    buffer = value.buffer;
    size += value.length;
    if (value.length < wanted) return new Uint8Array(buffer, 0, size);
    if (size === buffer.byteLength) {
      await reader.cancel();
      return new Uint8Array(buffer, 0, size);
    }
  }
}
