/**
 * FNV-1a over UTF-16 units: spreads keys over shards and index buckets. It is no security boundary: what it points at
 * is always compared in full.
 */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  // FNV's low bits are weak for short keys; one avalanche step evens them out.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
