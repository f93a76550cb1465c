/** Warns of API keys that are about to expire, a week and a day ahead. Looks once an hour. */
import { alertId } from '../../alerts/alert.ts';
import { summaryOf } from '../../alerts/kind-words.ts';
import { recordAlert } from '../../store/d1/alerts.ts';
import { apiKeysToAnnounce } from '../../store/d1/api-keys.ts';
import type { ServiceStore } from '../environment.ts';
import { expiryWarning } from '../../alerts/alert-times.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const DAYS_AHEAD = 7;
/** What is left is announced an hour later. */
const KEYS_MAX = 500;

export async function watchApiKeys(store: ServiceStore, nowMs: number): Promise<void> {
  if (nowMs % HOUR_MS >= MINUTE_MS) return;
  const keys = await apiKeysToAnnounce(store, nowMs, { daysAhead: DAYS_AHEAD, limit: KEYS_MAX });
  const statements: D1PreparedStatement[] = [];
  for (const { id: apiKeyId, accountId, name, createdAt: issuedAt, expiresAt } of keys) {
    const warning = expiryWarning({ issuedAt, expiresAt }, DAYS_AHEAD, nowMs);
    if (warning === null) continue;
    const facts = { apiKeyId, expiresAt: new Date(expiresAt).toISOString() };
    const what = { kind: 'api-key-expiring', phase: 'once', subject: apiKeyId } as const;
    const owned = { ...what, accountId, instanceId: null };
    const id = await alertId({ ...owned, moment: warning.moment });
    statements.push(
      ...recordAlert(store, { ...owned, id, at: nowMs, facts, summary: summaryOf({ ...what, facts }, name) }),
    );
  }
  if (statements.length > 0) await store.DB.batch(statements);
}
