/** Everything the edge itself can answer, as plain data. `respond.ts` makes the response. */
import type { ReadFault } from '../../bytes/read-bounded.ts';
import type { EdgeErrorKey } from '../../contract/edge/edge-errors.ts';
import type { ChallengePageInput } from './pages/challenge-page.ts';
import type { MessageKind } from './pages/message-page.ts';
import type { RequestContext } from '../decide/context.ts';
import { isNavigation } from '../request/header-facts.ts';

export type Answer =
  | ({ kind: 'challenge' } & ChallengeExtras)
  | { kind: 'block' }
  /** What a refused visitor can do. */
  | { kind: 'help' }
  | { kind: 'no-session' }
  | ({ kind: 'limited' } & LimitedRequest)
  | Message
  | { kind: 'error'; key: EdgeErrorKey; reason: string; retryAfterSeconds?: number }
  | { kind: 'json'; status: number; body: object }
  | { kind: 'text'; status: number; text: string }
  /** `waitSeconds` above 0 shows an empty page that goes on by itself. Without a `status`, what follows is a GET. */
  | { kind: 'redirect'; location: string; waitSeconds: number; status?: number }
  | { kind: 'robots'; text: string }
  | { kind: 'script'; body: string | Uint8Array<ArrayBuffer>; hash: string; isNamedByHash: boolean };

/** A limit that the request is above. */
export interface LimitedRequest {
  name: string;
  count: number;
  windowSeconds: number;
  /** The limit counts requests, so a client can keep to it. */
  countsRequests: boolean;
  retryAfterSeconds: number;
}

export type ChallengeExtras = Pick<ChallengePageInput, 'replay' | 'noScript' | 'notice'>;

/** Says what became of a request that the gate could not carry on. `key` names it for clients. */
export interface Message {
  kind: 'message';
  page: MessageKind;
  key: EdgeErrorKey;
  reason: string;
}

export function message(page: MessageKind, key: EdgeErrorKey, reason: string): Message {
  return { kind: 'message', page, key, reason };
}

export function jsonAnswer(body: object, status = 200): Answer {
  return { kind: 'json', status, body };
}

export function error(key: EdgeErrorKey, reason: string): Answer {
  return { kind: 'error', key, reason };
}

/** What a visitor gets where the service refused what they sent, in the edge's own words. */
export function toldToVisitor({ status, key }: { status: number; key: string }): Answer {
  return jsonAnswer({ error: { code: status, message: 'This call was refused.', key } }, status);
}

/** The request names no path of a host, so there is no path type to answer by. */
export const BAD_REQUEST: Answer = { kind: 'text', status: 400, text: 'Bad request' };
/** A name that the instance's `hosts` does not list (RFC 9110 section 15.5.20). */
export const FOREIGN_HOST: Answer = { kind: 'text', status: 421, text: 'This gate does not serve this host' };
export const TOO_LARGE = message('too-large', 'API.BODY_TOO_LARGE', 'This submission is too large to hold.');
/** What a visitor gets whose submission could not be read. */
export const NOT_READ: Record<ReadFault['kind'], Message> = {
  'too-large': TOO_LARGE,
  unreadable: message('send-again', 'API.BAD_REQUEST', 'The submission did not arrive completely.'),
  // A moment later there is room.
  'no-room': message('send-again', 'API.UNAVAILABLE', 'Too many submissions at once. Send this one again.'),
};

/**
 * Which form an answer takes. The path's declared type and `Sec-Fetch-Dest` decide, never `Accept`, which scripts set
 * freely.
 */
export type AnswerForm = 'page' | 'json' | 'text';

export function answerForm({ facts, path }: Pick<RequestContext, 'facts' | 'path'>): AnswerForm {
  if (facts.request.headers.get('upgrade')?.toLowerCase() === 'websocket') return 'text';
  if (path?.pathType === 'json') return 'json';
  return isNavigation(facts.headers) ? 'page' : 'json';
}
