/**
 * The states of an instance that become alerts, each seen in what the service knows of the instance. The view is read
 * once for all of them. Their words are in `src/alerts/kind-words.ts`.
 */
import type { AlertFacts } from '../../alerts/alert.ts';
import type { HoldTimes } from '../../alerts/state-change.ts';
import type { AlertKind } from '../../contract/management/alerts.ts';
import type { ClientJwtRecord } from '../../store/d1/client-jwts.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import type { RuleStep } from '../../store/d1/object-failures.ts';
import type { StoredList } from '../../store/d1/rule-lists.ts';
import type { ShardRoom } from '../../store/event-log/shard-rpc.ts';
import type { SeenEdge } from '../../store/rule-book/rpc.ts';
import { FEW_RESPONSES, type Window } from './counted-window.ts';

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

interface SeenState {
  subject: string;
  facts: AlertFacts;
}

export interface StateSource extends HoldTimes {
  /** What is the case now. `null`: nobody can tell, and nothing changes. */
  see(view: InstanceView): readonly SeenState[] | null;
}

const MINUTE_MS = 60_000;
const MEGABYTE = 1_000_000;

const FAILED_REQUESTS_MIN = 10;
const FAILING_BEGINS_AT_SHARE = 0.2;
const FAILING_ENDS_BELOW_SHARE = 0.05;

/** With a visitor an edge takes new rules within seconds, else at its scheduled run, once a minute. */
const BEHIND_MS = 180_000;
/** An edge without contact has perhaps been taken down. It is behind until it comes back, and can take nothing. */
const IN_CONTACT_MS = 180_000;

/** Over the list's interval. Four attempts fail in this time. */
const LIST_LATE_MS = 60 * MINUTE_MS;

const FILLING_BEGINS_AT_SHARE = 0.8;
const FILLING_ENDS_BELOW_SHARE = 0.7;
/** The platform's bound of one object. */
const OBJECT_MAX_MEGABYTES = 10_000;

/** An isolate that is stopped loses a second of its requests, which is no news. */
const LOST_MIN = 10;
const LOST_SHARE = 0.001;

export const stateSources = {
  /**
   * An origin fails for a good part of its requests. Once it does, it has to be nearly well again to end. Each has alerts
   * of its own: the subject is the name of one that the policies name, and empty for the one of the edge's environment.
   */
  'origin-failing': {
    beginsAfterMs: 0,
    endsAfterMs: 0,
    see({ origins, isOn }) {
      if (origins === null) return null;
      return origins.flatMap(({ name, responses, errors, isWhole }) => {
        const share = responses === 0 ? 0 : errors / responses;
        const isBad = isOn(name)
          ? share >= FAILING_ENDS_BELOW_SHARE
          : errors >= FAILED_REQUESTS_MIN && share >= FAILING_BEGINS_AT_SHARE;
        // While nobody can tell, it stays as it is.
        const canTell = isWhole && (responses >= FEW_RESPONSES || !isOn(name));
        if (canTell ? !isBad : !isOn(name)) return [];
        const which = name === '' ? {} : { origin: name };
        return [{ subject: name, facts: { ...which, failed: errors, requests: responses, share } }];
      });
    },
  },

  /** An edge in contact lacks a change of the rules for minutes, or the newest rules cannot be compiled or sent. */
  'rules-stale': {
    beginsAfterMs: 180_000,
    endsAfterMs: 0,
    see({ edges, failingSteps, nowMs }) {
      const behind = edges.filter(
        ({ behindSince, contactAt }) =>
          behindSince !== null && nowMs - behindSince > BEHIND_MS && nowMs - contactAt <= IN_CONTACT_MS,
      );
      return [
        ...behind.map(({ jti }) => ({ subject: `edge:${jti}`, facts: { edge: jti } })),
        // A damaged file is compiled again; where that fails, `compile` fails.
        ...failingSteps.filter((step) => step !== 'file').map((step) => ({ subject: `step:${step}`, facts: { step } })),
      ];
    },
  },

  /**
   * A list that nobody reads well any more: its publisher fails, or sends what is not taken, or nobody asks. A failure
   * alone is no news, because the next attempt may be good.
   */
  'list-stale': {
    beginsAfterMs: 0,
    endsAfterMs: 0,
    see: ({ lists, nowMs }) =>
      lists.flatMap((list): SeenState[] => {
        const reason = listReason(list, nowMs);
        if (reason === null) return [];
        const readAt = list.confirmedAt === null ? 'never' : new Date(list.confirmedAt).toISOString();
        return [{ subject: list.name, facts: { list: list.name, reason, readAt, error: list.error ?? '' } }];
      }),
  },

  /** An object is near a bound. The alert ends when there is clearly room again. */
  'storage-filling': {
    beginsAfterMs: 0,
    endsAfterMs: 0,
    see({ rules, rulesMax, rooms, isOn }) {
      const unsealed = rooms.toSorted((a, b) => b.unsealed / b.unsealedMax - a.unsealed / a.unsealedMax)[0];
      const megabytes = Math.round(Math.max(0, ...rooms.map(({ databaseBytes }) => databaseBytes)) / MEGABYTE);
      return [
        ...full('access-rules', rules, rulesMax, isOn),
        ...full('unsealed-verdicts', unsealed?.unsealed ?? 0, unsealed?.unsealedMax ?? 1, isOn),
        ...full('log-storage', megabytes, OBJECT_MAX_MEGABYTES, isOn),
      ];
    },
  },

  /** Verdicts are missing that were missing at the check before: what is only late has arrived by then. */
  'verdicts-lost': {
    beginsAfterMs: 0,
    endsAfterMs: 15 * MINUTE_MS,
    see({ losses }) {
      if (losses === null) return null;
      const { lost, requests } = losses;
      return lost >= LOST_MIN && lost >= requests * LOST_SHARE ? [{ subject: '', facts: { lost, requests } }] : [];
    },
  },
} as const satisfies Partial<Record<AlertKind, StateSource>>;

function listReason(list: StoredList, nowMs: number): 'expired' | 'failing' | 'overdue' | null {
  const { isExpired, failures, confirmedAt, createdAt, dueAt, settings } = list;
  if (isExpired) return 'expired';
  const lateAt = (confirmedAt ?? createdAt) + settings.intervalMinutes * MINUTE_MS + LIST_LATE_MS;
  if (failures > 0 && nowMs > lateAt) return 'failing';
  return dueAt !== null && nowMs > dueAt + LIST_LATE_MS ? 'overdue' : null;
}

function full(what: string, used: number, limit: number, isOn: InstanceView['isOn']): SeenState[] {
  const isFull = used / limit >= (isOn(what) ? FILLING_ENDS_BELOW_SHARE : FILLING_BEGINS_AT_SHARE);
  return isFull ? [{ subject: what, facts: { what, used, limit } }] : [];
}
