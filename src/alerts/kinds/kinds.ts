/**
 * The words of every kind of alert, by its name. To add a kind: its name in the contract, a file here, and a source that
 * observes it.
 */
import type { SentKind } from '../../contract/management/alerts.ts';
import type { Alert } from '../alert.ts';
import { attack } from './attack.ts';
import { apiKeyExpiring } from './api-key-expiring.ts';
import { clientJwtExpiring } from './client-jwt-expiring.ts';
import type { KindWords } from './kind-words.ts';
import { listStale } from './list-stale.ts';
import { originFailing } from './origin-failing.ts';
import { rulesStale } from './rules-stale.ts';
import { storageFilling } from './storage-filling.ts';
import { testAlert } from './test-alert.ts';
import { verdictsLost } from './verdicts-lost.ts';

export const kindWords: Readonly<Record<SentKind, KindWords>> = {
  attack,
  'client-jwt-expiring': clientJwtExpiring,
  'api-key-expiring': apiKeyExpiring,
  'rules-stale': rulesStale,
  'list-stale': listStale,
  'verdicts-lost': verdictsLost,
  'storage-filling': storageFilling,
  'origin-failing': originFailing,
  test: testAlert,
};

/** No name of a visitor or an operator is in it. */
export function titleOf({ kind, phase }: Pick<Alert, 'kind' | 'phase'>): string {
  const { title } = kindWords[kind];
  return phase === 'ends' ? `Over: ${title}` : title;
}

/** `about`: the name of the instance, or of the key. */
export function summaryOf({ kind, phase, facts }: Pick<Alert, 'kind' | 'phase' | 'facts'>, about: string): string {
  const words = kindWords[kind];
  return phase === 'ends' ? words.ended(about, facts) : words.begun(about, facts);
}
