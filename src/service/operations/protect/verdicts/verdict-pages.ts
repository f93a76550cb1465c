/**
 * Verdicts in pages. Each row is JSON already, so a page is put together as text. The log keeps what was decided from,
 * and the sentence that says why is written here, whenever somebody reads it.
 */
import type { ReturnedVerdict, VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { explainRecord } from '../../../../rules/explain.ts';
import { inOrder, type StoredRow } from '../../../../store/event-log/log-row.ts';
import {
  type VerdictPageRequest,
  verdictPageRequest,
  verdictPageResponse,
  verdictSearchRequest,
  verdictTailRequest,
  verdictTailResponse,
} from '../../../../contract/management/verdict-query.ts';
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import { jsonCursor, readJsonCursor, readVerdictCursor, verdictCursor } from '../../pages.ts';
import { reasonOf } from './headline.ts';
import { logTarget, rowFilter } from './verdict-log-query.ts';
import { type Operation, type OperationContext, protectOperation } from '../../define-operation.ts';
import { jsonTextResponse } from '../../../http/json-response.ts';
import * as z from 'zod/mini';
import { readTail, type TailPosition } from '../../../../store/event-log/client/verdict-tail.ts';

export function explainedVerdict(record: VerdictRecord): ReturnedVerdict {
  return { ...record, explain: explainRecord(record), reason: reasonOf(record) };
}

/** A row of a list. */
function listedBody({ body }: StoredRow): string {
  const { reason, ...record } = explainedVerdict(JSON.parse(body) as VerdictRecord);
  return JSON.stringify({ ...inOrder(record), reason });
}

/** For an export, which has what is stored. A record that has its explanation stays as it is stored. */
export function explainedBody({ body }: StoredRow): string {
  const record = JSON.parse(body) as VerdictRecord;
  return record.explain === undefined ? JSON.stringify(inOrder(explainedVerdict(record))) : body;
}

async function verdictPage(context: OperationContext<VerdictPageRequest>): Promise<Response> {
  const { limit, offset, cursor } = context.body;
  const { log, horizon } = await logTarget(context, context.body.siteKey);
  const filter = rowFilter(context.body, horizon);
  const before = readVerdictCursor(cursor);
  const passOver = offset + (before?.skip ?? 0);
  const page = await readPage(context.store, log, { filter, before, offset: passOver, limit, wantTotal: true });
  return verdictsResponse(page.rows, {
    total: page.total,
    totalIsExact: page.totalIsExact,
    limit,
    offset,
    nextCursor: page.next ? verdictCursor(page.next) : null,
  });
}

function verdictsResponse(rows: readonly StoredRow[], rest: object): Response {
  return jsonTextResponse(`{"verdicts":[${rows.map(listedBody).join(',')}],${JSON.stringify(rest).slice(1)}`);
}

export const verdictOperations: readonly Operation[] = [
  /** The verdict log in pages, newest first, with every filter. */
  protectOperation({
    name: 'list-verdicts',
    path: '/protect/verdicts',
    access: 'read',
    summary: 'Page the verdict log',
    body: verdictPageRequest,
    response: verdictPageResponse,
    handler: verdictPage,
  }),
  /**
   * What the log stored since the last call, oldest first, each verdict once. Callers poll: a place in the log survives
   * a lost connection, works with every client and every kind of credential, and nothing is kept open between two
   * calls.
   */
  protectOperation({
    name: 'tail-verdicts',
    path: '/protect/verdicts/tail',
    access: 'read',
    summary: 'Verdicts that arrived since the last call',
    body: verdictTailRequest,
    response: verdictTailResponse,
    async handler(context) {
      const { cursor, limit, ...filters } = context.body;
      const { log, horizon } = await logTarget(context, context.body.siteKey);
      const after = cursor === undefined ? null : positionOf(cursor);
      const page = await readTail(context.store, log, { filter: rowFilter(filters, horizon), after, limit });
      return verdictsResponse(page.rows, { cursor: cursorOf(page.position), more: page.more, missed: page.missed });
    },
  }),
];

/** The verdicts of one client, by address, session or network. All given fields must match. */
export const searchVerdicts = protectOperation({
  name: 'search-verdicts',
  path: '/protect/verdicts/search',
  access: 'read',
  summary: 'Find verdicts for one client',
  body: verdictSearchRequest,
  response: verdictPageResponse,
  handler: verdictPage,
});

const number = z.int().check(z.gte(0));
/** `[epoch, shard, number of the last row]` for each shard. */
const positions = z.array(z.tuple([number, number, number])).check(z.minLength(1));

function cursorOf(position: TailPosition): string {
  return jsonCursor([...position].map(([name, row]) => [...name.split(':').map(Number), row]));
}

function positionOf(cursor: string): TailPosition {
  return new Map(readJsonCursor(positions, cursor).map(([epoch, index, row]) => [`${epoch}:${index}`, row]));
}
