/**
 * `POST /edge/v1/sessions`: renews the JWT of a session for the visitor that the edge describes, or opens one. A new
 * session is earned: the first call gets a challenge, the second has its solution and the report of the browser. Either
 * way the risk of the session is evaluated. A JWT that was copied to another network or user agent is not renewed: the
 * visitor earns a new session, which remembers the copy. A session that is over or withdrawn is not renewed either.
 */
import { visitorBinding } from '../../address/visitor-binding.ts';
import { edgeSessionRequest, type EdgeVisitor } from '../../contract/edge/edge-api.ts';
import type { EdgeSession } from '../../contract/edge/edge-responses.ts';
import type { SessionCall } from '../../contract/edge/page-reports.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { RiskScore } from '../../risk/session-score.ts';
import { type PaidWork, paceWindow, paidWorkAt } from '../../risk/pace.ts';
import {
  SESSION_JWT_SECONDS,
  mintSessionJwt,
  paidWorkClaim,
  paidWorkOf,
  type SessionClaims,
} from '../../risk/session-token.ts';
import { sessionMintingKey } from '../../store/keys/edge-keys.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import { openRisk, renewRisk } from '../../store/risk-book/client/session-risk.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { BodyError, CaptchaRefusal } from '../http/service-error.ts';
import type { EdgeCall, EdgeRoute } from './edge-route.ts';
import { isSessionOf, sessionClaims } from './session-claims.ts';
import { nextPiece, noPaidWork, withSolvedPiece } from './paced-work.ts';
import {
  type DoneWork,
  earnSession,
  issueSessionChallenge,
  type PageLoad,
  type SessionAnswer,
} from './session-challenge.ts';
import { getDomain } from 'tldts';

/** The signals of one visitor, one JWT, and what the page posted. */
const SESSION_BODY_MAX_BYTES = 64 * 1024;

export const createSession: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/sessions',
  async handler(call) {
    const body = await readBodyAs(edgeSessionRequest, call.request, SESSION_BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const { visitor, jwt, page = {}, use, load } = body.value;
    const known = jwt === undefined ? null : await sessionClaims(call, jwt);
    const isOwn = known !== null && (await isSessionOf(known, visitor));
    if (isOwn) {
      const paid = await paidWork(call, visitor, known, page);
      if (!paid.ok) return errorResponse(paid.error);
      const renewed = await (isWorking(page, known, call.nowMs) ? withPaidWork : renew)(
        call,
        visitor,
        known,
        paid.value,
      );
      if (renewed !== null) return jsonResponse(await withWork(renewed));
    }
    const answer = answerOf(page);
    if (!answer.ok) return errorResponse(answer.error);
    if (answer.value === null) return jsonResponse(await issueSessionChallenge(call, visitor, page.capabilities, load));
    const opened = await open(call, visitor, answer.value, load, isOwn ? null : (known?.jti ?? null));
    if (!opened.ok) return errorResponse(opened.error);
    if ('tooCheap' in opened.value) {
      return jsonResponse(await issueSessionChallenge(call, visitor, page.capabilities, load, opened.value.tooCheap));
    }
    return jsonResponse(await withWork(opened.value));

    async function withWork({ session, paid }: Minted): Promise<object> {
      return { ...session, work: await nextPiece(call, visitor, session.jti, paid, page, use) };
    }
  },
};

/** What a session has worked for: as its JWT says, and with the piece that the page has solved now. */
async function paidWork(
  call: EdgeCall,
  visitor: EdgeVisitor,
  { jti, pac }: SessionClaims,
  { challenge, solution, environment }: SessionCall,
): Promise<Result<PaidWork, CaptchaRefusal>> {
  const paid = pac === undefined ? noPaidWork(call.nowMs) : paidWorkAt(paidWorkOf(pac), paceWindow(call.nowMs));
  const isPiece = challenge !== undefined && solution !== undefined && environment === undefined;
  return isPiece ? withSolvedPiece(call, visitor, jti, paid, { challenge, solution }) : ok(paid);
}

/** `null`: the page has nothing to show yet. A solution without a report opens nothing. */
function answerOf({ challenge, solution, environment }: SessionCall): Result<SessionAnswer | null, BodyError> {
  if (challenge !== undefined && solution !== undefined && environment !== undefined) {
    return ok({ challenge, solution, environment });
  }
  if (challenge === undefined && solution === undefined && environment === undefined) return ok(null);
  const missing = Object.entries({ challenge, solution, environment }).filter(([, value]) => value === undefined);
  const details = missing.map(([name]) => ({ path: `page.${name}`, message: 'is missing' }));
  return failed({ kind: 'body-mismatch', details });
}

async function open(
  call: EdgeCall,
  visitor: EdgeVisitor,
  answer: SessionAnswer,
  load: PageLoad,
  formerJti: string | null,
): Promise<Result<Minted | { tooCheap: DoneWork }, CaptchaRefusal>> {
  const { store, instance, nowMs } = call;
  const earned = await earnSession(call, visitor, answer, load);
  if (!earned.ok) return earned;
  if ('tooCheap' in earned.value) return ok(earned.value);
  const opened = await openRisk(store, instance, earned.value, visitor, nowMs, formerJti);
  if (opened === null) return failed({ kind: 'challenge-spent' });
  const sxp = opened.expiresAt / 1000;
  const paid = { ...noPaidWork(nowMs), advanced: opened.advanced };
  return ok(await mint(call, visitor, earned.value.jti, opened, { exp: sxp, sxp }, paid));
}

/** So long before its end a JWT is renewed anyway. */
const RENEWED_BEFORE_SECONDS = 120;

function isWorking({ work }: SessionCall, { exp }: SessionClaims, nowMs: number): boolean {
  return work === true && exp - nowMs / 1000 > RENEWED_BEFORE_SECONDS;
}

/** The same JWT with what the session worked for. It ends when the known one does, so its risk need not be read again. */
function withPaidWork(
  call: EdgeCall,
  visitor: EdgeVisitor,
  { jti, risk, det = 0, sxp, exp }: SessionClaims,
  paid: PaidWork,
): Promise<Minted> {
  return mint(call, visitor, jti, { score: risk, detectors: det }, { exp, sxp }, paid);
}

/** Renews the JWT, with the session's next advance where its work has earned one. `null`: the session was withdrawn. */
async function renew(
  call: EdgeCall,
  visitor: EdgeVisitor,
  { jti, sxp }: SessionClaims,
  paid: PaidWork,
): Promise<Minted | null> {
  const { store, instance, nowMs } = call;
  const times = { nowMs, expiresAt: sxp * 1000, worked: paid.worked };
  const risk = await renewRisk(store, instance, jti, visitor, times);
  if (risk === null) return null;
  return mint(call, visitor, jti, risk, { exp: sxp, sxp }, { ...paid, advanced: risk.advance.window });
}

interface Minted {
  session: EdgeSession;
  paid: PaidWork;
}

async function mint(
  { store, instance, nowMs }: EdgeCall,
  visitor: EdgeVisitor,
  jti: string,
  { score, detectors }: RiskScore,
  /** Epoch seconds: the latest end of the JWT, and the end of the session. */
  ends: { exp: number; sxp: number },
  paid: PaidWork,
): Promise<Minted> {
  const nowSeconds = Math.floor(nowMs / 1000);
  const claims: SessionClaims = {
    jti,
    sub: instance.id,
    iat: nowSeconds,
    exp: Math.min(nowSeconds + SESSION_JWT_SECONDS, ends.exp),
    sxp: ends.sxp,
    risk: score,
    det: detectors,
    bnd: await visitorBinding(visitor.ip, visitor.userAgent),
    pac: paidWorkClaim(paid),
  };
  const { kid, key } = await sessionMintingKey(await rootKey(store), instance.id, nowMs);
  const session = {
    jti,
    jwt: await mintSessionJwt(key, kid, claims),
    expiresAt: claims.sxp * 1000,
    jwtExpiresAt: claims.exp * 1000,
    cookieDomain: cookieDomain(visitor.host),
  };
  return { session, paid };
}

/**
 * The widest domain that a session cookie may have for a host, which may carry a port: the registrable domain by the
 * public suffix list, with its private part. So `www` and `shop` share one session, and a neighbour under a shared
 * suffix does not get it. `null` means host-only: addresses, localhost, and names that are a suffix themselves.
 */
export function cookieDomain(host: string): string | null {
  return getDomain(`https://${host}`, { allowPrivateDomains: true, validateHostname: true });
}
