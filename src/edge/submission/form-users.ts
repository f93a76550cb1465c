/**
 * Whom a log-in names, for limits by user: in its form and in its query. The body is read whole and goes on as it came. Of
 * a field that stands there several times, origins read the first or the last: both count. What an origin may read and
 * the edge cannot has one name for all visitors, so that nobody escapes a count by an encoding.
 */
import { ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import { userName } from '../../limits/limit-keys.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import type { ReadFault } from '../../bytes/read-bounded.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { BodyBudget } from './body-budget.ts';
import { SUBMISSION_MAX_BYTES, UNREAD_TEXT, fieldTexts, urlencodedTexts } from './read-submission.ts';

const encoder = new TextEncoder();

export interface FormUsers {
  /** With a request that can be read again. */
  facts: RequestFacts;
  /** `null` where nobody has read it. */
  body: Uint8Array<ArrayBuffer> | null;
  byField: ReadonlyMap<string, readonly string[]>;
}

/** `read`: the body, where it was read before. */
export async function formUsers(
  facts: RequestFacts,
  read: Uint8Array<ArrayBuffer> | null,
  fields: readonly string[],
  bodies: BodyBudget,
): Promise<Result<FormUsers, ReadFault>> {
  const { request, target } = facts;
  if (fields.length === 0) return ok({ facts, body: read, byField: new Map() });
  const { headers, body: stream } = request;
  // No request of these methods can be made anew with its body.
  const isUnread = headers.has('content-encoding') || (stream !== null && /^(GET|HEAD)$/.test(request.method));
  const isRead = stream !== null && read === null && !isUnread;
  const body = isRead ? await readBounded(stream, SUBMISSION_MAX_BYTES, { room: bodies.hold(facts) }) : ok(read);
  if (!body.ok) return body;
  const query = encoder.encode(target.query.slice(1));
  const byField = new Map<string, readonly string[]>();
  for (const field of fields) {
    const inBody = body.value ? fieldTexts(headers.get('content-type') ?? '', body.value, field) : [];
    const sources = [isUnread ? [UNREAD_TEXT] : inBody, urlencodedTexts(query, field)];
    byField.set(field, [...new Set(sources.flatMap(firstAndLast))]);
  }
  if (!isRead) return ok({ facts, body: read, byField });
  return ok({
    facts: { ...facts, request: new Request(request, { method: request.method, body: body.value }) },
    body: body.value,
    byField,
  });
}

function firstAndLast(texts: readonly string[]): string[] {
  const names = texts.map(userName).filter((name) => name !== null);
  return names.filter((_, at) => at === 0 || at === names.length - 1);
}
