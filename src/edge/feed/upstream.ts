/**
 * Where a feed gets what it does not have: the service (`service-client.ts`), or this edge's own KV written by its scheduled
 * run (`management-api.ts`). Whatever is wrong with an answer, the feed keeps what it has.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import type { EdgeConfig, EdgeVersion } from '../../contract/edge/edge-responses.ts';
import { failed, type Result } from '../../result.ts';

/** Why a call has no answer. */
export type UpstreamFault =
  /** None came in time. */
  | { kind: 'unreachable' }
  /** The service refused the call, for a reason that lies with this edge or with the service. */
  | { kind: 'refused'; status: number }
  /** What came, or what was stored, is not what was asked for. */
  | { kind: 'unreadable' }
  /** The service refused what the visitor sent. They may be told. */
  | { kind: 'visitor'; status: number; key: string }
  /** There is no such part. */
  | { kind: 'absent' };

export type Asked<Answer> = Result<Answer, UpstreamFault>;

export const UNREADABLE = failed<UpstreamFault>({ kind: 'unreadable' });
export const ABSENT = failed<UpstreamFault>({ kind: 'absent' });

/** Without an answer, the next place is asked. */
export function valueOrNull<Value>(asked: Asked<Value>): Value | null {
  return asked.ok ? asked.value : null;
}

/** A config, and the JSON in which it was sent. A copy has what this release ignores: the next one may read it. */
export interface SentConfig {
  config: EdgeConfig;
  json: Bytes;
}

export interface Upstream {
  /** `isPatient`: no request waits for the answer. */
  version(isPatient?: boolean): Promise<Asked<EdgeVersion>>;
  config(): Promise<Asked<SentConfig>>;
  base(hash: string): Promise<Asked<Bytes>>;
  /** Tells the service that a base which it sent cannot be loaded. Never throws. */
  refused?(hash: string): Promise<void>;
  /** Only a service of this project has one. */
  bots?(hash: string): Promise<Asked<Bytes>>;
  delta(hash: string, version: number): Promise<Asked<Bytes>>;
}

/** Adds to a counter that rides in the verdict batches. */
export type Count = (name: string) => void;
