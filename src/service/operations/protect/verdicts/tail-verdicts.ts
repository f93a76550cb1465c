/**
 * `POST /protect/verdicts/tail`: what the log stored since the last call, oldest first, each verdict once. Callers poll:
 * a place in the log survives a lost connection, works with every client and every kind of credential, and nothing is
 * kept open between two calls.
 */
import * as z from 'zod/mini';
import { verdictTailRequest, verdictTailResponse } from '../../../../contract/management/verdict-query.ts';
import { readTail, type TailPlace } from '../../../../store/event-log/client/verdict-tail.ts';
import { operation } from '../../define-operation.ts';
import { explainedBody } from './explained-row.ts';
import { jsonCursor, readJsonCursor } from './json-cursor.ts';
import { logTarget, rowFilter } from './verdict-log-query.ts';

export const tailVerdicts = operation({
  name: 'tail-verdicts',
  method: 'POST',
  path: '/protect/verdicts/tail',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Verdicts that arrived since the last call',
  body: verdictTailRequest,
  response: verdictTailResponse,
  async handler(context) {
    const { cursor, limit, ...filters } = context.body;
    const { log, horizon } = await logTarget(context, context.body.siteKey);
    const after = cursor === undefined ? null : placeOf(cursor);
    const page = await readTail(context.store, log, { filter: rowFilter(filters, horizon), after, limit });
    const rest = { cursor: cursorOf(page.place), more: page.more, missed: page.missed };
    const verdicts = page.rows.map(explainedBody).join(',');
    return new Response(`{"verdicts":[${verdicts}],${JSON.stringify(rest).slice(1)}`, {
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    });
  },
});

const number = z.int().check(z.gte(0));
/** `[epoch, shard, number of the last row]` for each shard. */
const places = z.array(z.tuple([number, number, number])).check(z.minLength(1));

function cursorOf(place: TailPlace): string {
  return jsonCursor([...place].map(([name, row]) => [...name.split(':').map(Number), row]));
}

function placeOf(cursor: string): TailPlace {
  return new Map(readJsonCursor(places, cursor).map(([epoch, index, row]) => [`${epoch}:${index}`, row]));
}
