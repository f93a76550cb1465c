/**
 * The position of a visitor in a rollout: 0–9999, in hundredths of a percent, the same in every isolate and for every
 * request. FNV-1a with the finaliser of MurmurHash3 is fast and even. It is not a secret.
 */
export const ROLLOUT_BUCKETS = 10_000;

export function rolloutBucket(visitorKey: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < visitorKey.length; i++) {
    const unit = visitorKey.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 255), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % ROLLOUT_BUCKETS;
}
