/** The two part stores of an edge: KV and the colo cache. One that throws, is missing or holds garbage is a miss. */
import type { Bytes } from '../../bytes/utf8.ts';
import type { Count } from './upstream.ts';
import type { PartStore } from './stored-parts.ts';

/**
 * The last known good config and ruleset, for outages of the service only. Read when an isolate starts while the service is
 * unreachable, written by the scheduled run and only on change.
 */
export class KvStore implements PartStore {
  readonly #kv: KVNamespace | null;
  readonly #scope: string;
  readonly #count: Count;

  constructor(kv: KVNamespace | null, scope: string, count: Count) {
    this.#kv = kv;
    this.#scope = scope;
    this.#count = count;
  }

  async get(name: string): Promise<Bytes | null> {
    if (!this.#kv) return null;
    try {
      const found = await this.#kv.get(this.#key(name), 'arrayBuffer');
      return found ? new Uint8Array(found) : null;
    } catch {
      this.#count('kv_failures{operation="get"}');
      return null;
    }
  }

  async put(name: string, bytes: Bytes): Promise<boolean> {
    if (!this.#kv) return false;
    try {
      await this.#kv.put(this.#key(name), bytes);
      return true;
    } catch {
      this.#count('kv_failures{operation="put"}');
      return false;
    }
  }

  async delete(name: string): Promise<void> {
    try {
      await this.#kv?.delete(this.#key(name));
    } catch {
      this.#count('kv_failures{operation="delete"}');
    }
  }

  #key(name: string): string {
    return `gate/${this.#scope}/${name}`;
  }
}

/** Files are named by their content, and the cache evicts them when it needs room. */
const CONTENT_MAX_AGE_SECONDS = 86_400;
/** Larger than any part may be. */
const PART_MAX_BYTES = 64 * 1024 * 1024;
/** The platform reads each piece into memory of its own first. Pieces of this size reuse that memory. */
const PIECE_BYTES = 256 * 1024;
/** Never resolved: the Cache API needs an address, and no one can own a name under `.invalid`. */
const CACHE_ORIGIN = 'https://gatehouse.invalid';

/** The next isolate in the same place finds what one isolate fetched. */
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
