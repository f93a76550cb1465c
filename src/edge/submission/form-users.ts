/**
 * Whom a log-in form names, for limits by user. The body is read whole and goes on as it came. Of a field that stands in
 * the form several times, origins read the first or the last: both count. What is no form names nobody.
 */
import { ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import { userName } from '../../limits/limit-keys.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import type { ReadError } from '../../bytes/read-bounded.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { BodyBudget } from './body-budget.ts';
import { SUBMISSION_MAX_BYTES, fieldTexts, submissionKind } from './read-submission.ts';

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
): Promise<Result<FormUsers, ReadError>> {
  const { request } = facts;
  const contentType = request.headers.get('content-type') ?? '';
  const kind = submissionKind(contentType);
  if (fields.length === 0 || request.body === null || kind === 'other')
    return ok({ facts, body: read, byField: new Map() });
  const body = read ? ok(read) : await readBounded(request.body, SUBMISSION_MAX_BYTES, { room: bodies.hold(facts) });
  if (!body.ok) return body;
  const byField = new Map<string, readonly string[]>();
  for (const field of fields) {
    const names = (await fieldTexts(kind, contentType, body.value, field))
      .map(userName)
      .filter((name) => name !== null);
    byField.set(field, [...new Set([names.at(0), names.at(-1)].filter((name) => name !== undefined))]);
  }
  if (read) return ok({ facts, body: read, byField });
  return ok({
    facts: { ...facts, request: new Request(request, { method: request.method, body: body.value }) },
    body: body.value,
    byField,
  });
}
