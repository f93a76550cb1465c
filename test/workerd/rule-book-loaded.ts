/**
 * A rule book as an edge loads it: base and delta are fetched, their signatures are checked, and the delta is applied.
 */
import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { openDelta } from '../../src/rules/delta.ts';
import { createRuleset, type Ruleset } from '../../src/rules/ruleset.ts';
import { openSignedRuleset } from '../../src/rules/signing.ts';
import { openSnapshot } from '../../src/rules/snapshot.ts';
import type { RuleBook } from '../../src/store/rule-book/object/rule-book.ts';
import type { RuleBookRpc } from '../../src/store/rule-book/rpc.ts';
import { verificationKeys } from '../../src/store/keys/signing-keys.ts';
import { testNow } from '../support/clock.ts';

const serviceEnv = env as ServiceEnv;
const NOW_SECONDS = Date.UTC(2026, 10, 20) / 1000;

/** The object itself, for tests that inspect or evict it. */
export function ruleBookStub(instanceId: string): DurableObjectStub<RuleBook> {
  return serviceEnv.RULE_BOOK.get(serviceEnv.RULE_BOOK.idFromName(instanceId));
}

export async function loadedByAnEdge(
  id: string,
  book: Pick<RuleBookRpc, 'currentVersion' | 'delta'>,
): Promise<Ruleset> {
  const { base, delta } = await book.currentVersion();
  const stored = await serviceEnv.RULESETS.get(`rulesets/${id}/${base.hash}`);
  const keys = new Map(
    (await verificationKeys(serviceEnv, 'ruleset', testNow())).map((key) => [key.kid, key.publicKey]),
  );
  const baseFile = await openSignedRuleset(new Uint8Array((await stored?.arrayBuffer()) ?? []), keys);
  const deltaFile = await openSignedRuleset((await book.delta(base.hash, delta.version)) ?? new Uint8Array(), keys);
  if (!baseFile.ok || !deltaFile.ok) throw new Error('A ruleset file is not signed by us');
  expect(baseFile.value.hash).toBe(base.hash);
  const snapshot = openSnapshot(baseFile.value.payload);
  const changes = openDelta(deltaFile.value.payload);
  if (!snapshot.ok || !changes.ok) throw new Error('A ruleset file cannot be opened');
  expect(changes.value).toMatchObject({ instanceId: id, baseHash: base.hash, version: delta.version });
  return createRuleset(snapshot.value, changes.value);
}

export function firedFor(ruleset: Ruleset, ip: string): string[] {
  const signals = { ip, asn: null, countryCode: null, ja4: null, userAgent: '', rolloutBucket: 0 };
  return ruleset.match(signals, NOW_SECONDS).fired.map((fired) => `${fired.id} ${fired.verdict}`);
}
