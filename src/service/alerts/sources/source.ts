/**
 * What a source of alerts is: one kind of state, seen in what the service knows of an instance. The view is read once for
 * all sources of an instance.
 */
import type { AlertFacts } from '../../../alerts/alert.ts';
import type { HoldTimes } from '../../../alerts/state-change.ts';
import type { AlertKind } from '../../../contract/management/alerts.ts';
import type { ClientJwtRecord } from '../../../store/d1/client-jwts.ts';
import type { StoredInstance } from '../../../store/d1/instances.ts';
import type { StoredList } from '../../../store/d1/rule-lists.ts';
import type { RuleStep } from '../../../store/d1/rule-failures.ts';
import type { ShardRoom } from '../../../store/event-log/shard-rpc.ts';
import type { SeenEdge } from '../../../store/rule-book/rpc.ts';
import type { Window } from '../counted-window.ts';

export interface InstanceView {
  instance: StoredInstance;
  nowMs: number;
  /** Those that work. */
  jwts: readonly ClientJwtRecord[];
  /** Those whose client JWT works. */
  edges: readonly SeenEdge[];
  /** Steps of the rule book that fail at the moment. */
  failingSteps: readonly RuleStep[];
  /** With the entries of lists. */
  rules: number;
  rulesMax: number;
  lists: readonly StoredList[];
  rooms: readonly ShardRoom[];
  /** What edges counted since the last windows began; `null` where there is nothing to compare with. */
  origins: Window['origins'];
  losses: Window['losses'];
  /** Whether an alert of this subject has begun and not ended. */
  isOn: (subject: string) => boolean;
}

export interface Seen {
  subject: string;
  facts: AlertFacts;
}

export interface StateSource extends HoldTimes {
  kind: AlertKind;
  /** What is the case now. `null`: nobody can tell, and nothing changes. */
  see(view: InstanceView): readonly Seen[] | null;
}
