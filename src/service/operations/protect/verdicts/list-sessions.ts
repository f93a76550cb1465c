/**
 * `POST /protect/sessions`: the sessions of an instance, newest first, as its risk books have them: who opened them, their
 * risk and its parts. Their requests are in the verdict log.
 */
import * as z from 'zod/mini';
import { sessionListRequest, sessionListResponse } from '../../../../contract/management/session-query.ts';
import { listSessions as readSessions } from '../../../../store/risk-book/client/list-sessions.ts';
import type { ListedSession, SessionPlace } from '../../../../store/risk-book/rpc.ts';
import { chosenInstance } from '../chosen-instance.ts';
import { operation } from '../../define-operation.ts';
import { jsonCursor, readJsonCursor } from './json-cursor.ts';
import { factsOfSession } from './session-facts.ts';
import { requiredIp } from './verdict-log-query.ts';

/** Of each of the sixteen books, for one page: about 20 ms of work. */
const EXAMINED_MAX = 4000;

export const listSessions = operation({
  name: 'list-sessions',
  method: 'POST',
  path: '/protect/sessions',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List the sessions of visitors',
  body: sessionListRequest,
  response: sessionListResponse,
  async handler(context) {
    const { siteKey, cursor, minRisk, ip, since, limit } = context.body;
    const before = cursor === undefined ? null : readPlace(cursor);
    const query = {
      minRisk: minRisk ?? 0,
      since: since ?? 0,
      ip: ip === undefined ? null : requiredIp(ip),
      before,
      limit,
      examinedMax: EXAMINED_MAX,
    };
    const instance = await chosenInstance(context, siteKey);
    const { sessions, next } = await readSessions(context.store, instance.id, query, context.nowMs);
    return { sessions: sessions.map(listed), nextCursor: next && jsonCursor([next.at, next.jti]) };
  },
});

function listed({ jti, state }: ListedSession): object {
  return {
    jti,
    ...factsOfSession(state),
    user_agent: state.userAgent,
    network: state.network,
    addresses: state.addresses,
    ip_category: state.categories,
  };
}

const place = z.tuple([z.int().check(z.gte(0)), z.string().check(z.minLength(1), z.maxLength(256))]);

function readPlace(cursor: string): SessionPlace {
  const [at, jti] = readJsonCursor(place, cursor);
  return { at, jti };
}
