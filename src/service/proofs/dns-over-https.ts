/** Looks up names by DNS over HTTPS, in the JSON form that public resolvers speak. Answers are bounded and checked. */
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import { failed, ok, type Result } from '../../result.ts';

const types = { A: 1, PTR: 12, AAAA: 28 } as const;
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;
const TIMEOUT_MS = 3000;
const ANSWER_MAX_BYTES = 16 * 1024;
/** With the links of a chain of other names. A longer answer is none. */
const RECORDS_MAX = 32;
/** For an answer without records, which names no time of its own. */
const EMPTY_TTL_SECONDS = 300;

const dnsAnswer = z.object({
  Status: z.int(),
  Answer: z.optional(
    z
      .array(z.object({ type: z.int(), TTL: z.int().check(z.gte(0)), data: z.string().check(z.maxLength(512)) }))
      .check(z.maxLength(RECORDS_MAX)),
  ),
});

/** None that counts came in time. */
export interface DnsFault {
  kind: 'no-answer';
}

const NO_ANSWER = failed<DnsFault>({ kind: 'no-answer' });

export interface DnsRecords {
  /** Of the type that was asked for. */
  records: readonly string[];
  /** The shortest of the answer. */
  ttlSeconds: number;
}

/** A name that does not exist is an answer without records. */
export async function resolveName(
  resolverUrl: string,
  name: string,
  type: keyof typeof types,
): Promise<Result<DnsRecords, DnsFault>> {
  const query = new URLSearchParams({ name, type });
  try {
    const response = await fetch(`${resolverUrl}?${query.toString()}`, {
      redirect: 'manual',
      headers: { accept: 'application/dns-json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel();
      return NO_ANSWER;
    }
    const body = await readBounded(response.body, ANSWER_MAX_BYTES, { timeoutMs: TIMEOUT_MS });
    const parsed = body.ok ? dnsAnswer.safeParse(parseJson(body.value)) : null;
    if (parsed?.success !== true) return NO_ANSWER;
    const { Status, Answer = [] } = parsed.data;
    if (Status !== NO_ERROR && Status !== NO_SUCH_NAME) return NO_ANSWER;
    const records = Answer.filter((record) => record.type === types[type]);
    const ttlSeconds = Answer.length === 0 ? EMPTY_TTL_SECONDS : Math.min(...Answer.map(({ TTL }) => TTL));
    return ok({ records: records.map(({ data }) => data), ttlSeconds });
  } catch {
    return NO_ANSWER;
  }
}
