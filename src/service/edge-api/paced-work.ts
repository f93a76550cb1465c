/**
 * What an open session works for: more pages and calls in ten minutes. Each piece of work names the session, the window
 * and its number, and counts only as the next one after those in the session's JWT. So nothing is stored: a piece that is
 * sent again gives the same JWT again, and an old JWT is worth less than the newest.
 */
import type { SessionChallenge } from '../../contract/captcha/challenge-api.ts';
import type { EdgeVisitor } from '../../contract/edge/edge-api.ts';
import type { SessionCall } from '../../contract/edge/page-reports.ts';
import { failed, ok, type Result } from '../../result.ts';
import {
  isMetered,
  type PaceUse,
  type PaidWork,
  paceWindow,
  paidWorkAt,
  PIECE_DIFFICULTY,
  PIECES_MAX,
  readPace,
} from '../../risk/pace.ts';
import type { CaptchaRefusal } from '../http/service-error.ts';
import type { EdgeCall } from './edge-route.ts';
import { laneFor, sealedWork, solvedWork, type SolvedWork } from './session-work.ts';

const NO_USE: PaceUse = { before: 0, now: 0 };

/** No session's id has a slash. */
export function isPieceOfWork(id: string): boolean {
  return id.includes('/');
}

/** The work of a session that has just opened: no piece yet, and the advance that opening it has earned. */
export function noPaidWork(nowMs: number): PaidWork {
  const window = paceWindow(nowMs);
  return { window, before: 0, now: 0, worked: 0, advanced: window };
}

/** What the session has worked for, with the piece that the page solved. */
export async function withSolvedPiece(
  call: EdgeCall,
  visitor: EdgeVisitor,
  jti: string,
  known: PaidWork,
  solved: SolvedWork,
): Promise<Result<PaidWork, CaptchaRefusal>> {
  const work = await solvedWork(call, visitor, solved);
  if (!work.ok) return work;
  const paid = paidWorkAt(known, paceWindow(call.nowMs));
  const isOf = (window: number, piece: number): boolean => work.value.id === pieceId(jti, window, piece);
  if (isOf(paid.window, paid.now + 1)) return ok({ ...paid, now: paid.now + 1, worked: paid.window });
  // The window ended while the page worked.
  if (isOf(paid.window - 1, paid.before + 1)) {
    return ok({ ...paid, before: paid.before + 1, worked: Math.max(paid.worked, paid.window - 1) });
  }
  // Sent again after a lost response, by a page that has the newer JWT already.
  if (isOf(paid.window, paid.now) || isOf(paid.window - 1, paid.before)) return ok(paid);
  return failed({ kind: 'challenge-foreign' });
}

/** The next piece of work of a session, where its page can do one and one is due. */
export async function nextPiece(
  call: EdgeCall,
  visitor: EdgeVisitor,
  jti: string,
  paid: PaidWork,
  { work, capabilities, solution }: SessionCall,
  use: (PaceUse & { window: number }) | undefined,
): Promise<SessionChallenge | undefined> {
  const { pace } = call.instance;
  const isTold = solution === undefined;
  if (work !== true || !isMetered(pace) || paid.now >= PIECES_MAX) return undefined;
  const counted = use?.window === paid.window ? use : NO_USE;
  // A page that brings no solution was told to work, by an edge that may know of more use than this one does.
  if (!isTold && !readPace(paid, counted).isWorkDue) return undefined;
  return sealedWork(call, visitor, pieceId(jti, paid.window, paid.now + 1), laneFor(capabilities), PIECE_DIFFICULTY);
}

function pieceId(jti: string, window: number, piece: number): string {
  return `${jti}/${window}/${piece}`;
}
