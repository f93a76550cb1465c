/**
 * Where a feed gets what it does not have: the service (`service-client.ts`), or this edge's own KV written by its scheduled
 * run (`management-api.ts`). `null` means unreachable, late, refused or unreadable; the feed keeps what it has.
 */
import type { EdgeConfig, EdgeVersion } from '../../contract/edge/edge-api.ts';

export interface Upstream {
  version(): Promise<EdgeVersion | null>;
  config(): Promise<EdgeConfig | null>;
  base(hash: string): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Tells the service that a base which it sent cannot be loaded. Never throws. */
  refused?(hash: string): Promise<void>;
  /** Only a service of this project has one. */
  bots?(hash: string): Promise<Uint8Array<ArrayBuffer> | null>;
  delta(hash: string, version: number): Promise<Uint8Array<ArrayBuffer> | null>;
}

/** Adds to a counter that rides in the verdict batches. */
export type Count = (name: string) => void;
