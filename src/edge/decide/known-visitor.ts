/**
 * What the gate knows of who asks: the bot they are, their session and their clearance. From memory, except where a
 * signature is seen for the first time, its nonce is spent, or a clearance is shown from the other address family.
 */
import type { WaitUntil } from '../../bytes/polled.ts';
import type { BotSignal } from '../../bots/bot-signal.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { SessionReading, Sessions } from '../session/check-session.ts';
import type { ClearanceReading, Clearances } from '../session/clearances.ts';
import type { BotReader } from './known-bots.ts';

export interface KnownVisitor {
  readonly bot: BotSignal | null;
  readonly session: SessionReading;
  readonly clearance: ClearanceReading | null;
}

export async function knownVisitor(
  facts: RequestFacts,
  config: CompiledConfig,
  { bots, sessions, clearances }: { bots: BotReader; sessions: Sessions; clearances: Clearances },
  waitUntil: WaitUntil,
): Promise<KnownVisitor> {
  const { headers, signals, nowMs } = facts;
  const spendsNonces = config.policy.botPolicy.signatures.nonce === 'once';
  return {
    bot: await bots.read(facts, waitUntil, spendsNonces),
    session: await sessions.read(headers.cookie, config, signals, nowMs),
    clearance: await clearances.read(facts, config),
  };
}
