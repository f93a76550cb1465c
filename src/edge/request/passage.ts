/**
 * One request's way through the gate: what is learned on the way, for the answer and for the one
 * record at the end. Plain fields with honest defaults, so that a record can be written from
 * wherever the way ended (habit 9).
 */
import { newEventId } from '../../logsink/event-id.ts';
import type { HeldBody } from '../isolate/body-budget.ts';
import type { ClearanceReading } from '../session/clearance.ts';
import type { CanonicalTarget } from './canonical-path.ts';
import type { CompiledConfig } from '../feed/compiled-config.ts';
import { readHeaders } from './header-facts.ts';
import type { HeaderFacts } from './header-facts.ts';
import type { PageTexts } from '../feed/page-texts.ts';
import type { PathPolicy } from '../decide/path-policy.ts';
import type { Signals } from './signals.ts';
import type { Verdict } from '../decide/verdict.ts';

export interface Passage {
  /** Event id of the record and reference id for the visitor: one is found by the other. */
  readonly requestId: string;
  /** Replaced once, where a held submission takes the place of the call that brought it back. */
  request: Request;
  /** Epoch milliseconds at arrival. */
  readonly nowMs: number;
  target: CanonicalTarget | null;
  headers: HeaderFacts;
  config: CompiledConfig | null;
  rulesetVersion: number;
  signals: Signals | null;
  path: PathPolicy | null;
  verdict: Verdict | null;
  /** `null`: this request had no token to verify. */
  verified: boolean | null;
  clearance: ClearanceReading | null;
  /** Of the session, else of the clearance. */
  jti: string | null;
  /** Set before the call goes out: whatever fails afterwards, it is never made again. */
  originCalled: boolean;
  originMs: number | null;
  /** A held submission on its way to the origin; its seal is spent first. */
  replay: { id: string; sealedAtMs: number } | null;
  /** What of its body this request holds in memory; `null` where it never read one. */
  heldBody: HeldBody | null;
  /** Of the isolate; `null`: pages speak English. */
  pageTexts: PageTexts | null;
  /** `Set-Cookie` values for the response. */
  cookies: string[];
}

export function beginPassage(request: Request, target: CanonicalTarget | null, nowMs: number): Passage {
  return {
    requestId: newEventId(nowMs),
    request,
    nowMs,
    target,
    headers: readHeaders(request.headers),
    config: null,
    rulesetVersion: 0,
    signals: null,
    path: null,
    verdict: null,
    verified: null,
    clearance: null,
    jti: null,
    originCalled: false,
    originMs: null,
    replay: null,
    heldBody: null,
    pageTexts: null,
    cookies: [],
  };
}
