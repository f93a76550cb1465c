/**
 * One alert: what happened, to what, and when. Its id is computed from these, so that two runs which notice the same
 * thing at the same time make one alert, and a receiver can tell a second copy by its id.
 */
import { sha256Hex } from '../bytes/hex.ts';
import type { AlertPhase, SentKind } from '../contract/management/alerts.ts';

export type AlertFacts = Readonly<Record<string, string | number>>;

export interface Alert {
  /** `evt_` and 32 hexadecimal digits. The same in every attempt to send it. */
  id: string;
  accountId: string;
  /** `null`: it is about the account. */
  instanceId: string | null;
  kind: SentKind;
  phase: AlertPhase;
  /** What of the account or the instance, such as the id of a key. Empty: all of it. */
  subject: string;
  /** Epoch milliseconds. */
  at: number;
  /** One or two sentences: what happened, and what to do. */
  summary: string;
  facts: AlertFacts;
}

/** What makes two alerts the same. `moment`: when the state began, or a name of the occasion. */
interface AlertIdentity extends Pick<Alert, 'accountId' | 'instanceId' | 'kind' | 'phase' | 'subject'> {
  moment: string | number;
}

const ID_HEX_CHARS = 32;

export async function alertId({ accountId, instanceId, kind, phase, subject, moment }: AlertIdentity): Promise<string> {
  const identity = JSON.stringify([accountId, instanceId, kind, phase, subject, moment]);
  return `evt_${(await sha256Hex(identity)).slice(0, ID_HEX_CHARS)}`;
}
