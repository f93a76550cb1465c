/**
 * What an `AttackWatch` can be asked, and what it returns. Callers (`client.ts`) and the object (`object/`) share this
 * file and no other code of each other.
 */
import type { ReportedStep } from '../../attack/traffic.ts';
import type { Alarm } from '../../attack/watch.ts';

export interface WatchSettings {
  /** Requests a second below which nothing is an attack. */
  minimumRate: number;
}

export interface AttackWatchRpc {
  /** Adds what an isolate has summed up since its last call. Returns the alarm that lasts, or `null`. */
  add(steps: ReportedStep[], settings: WatchSettings): Promise<Alarm | null>;
  /** The same without traffic, so that an alarm ends when nobody comes any more. */
  alarmNow(settings: WatchSettings): Promise<Alarm | null>;
  /** Forgets everything: the instance was deleted. */
  retire(): Promise<void>;
}
