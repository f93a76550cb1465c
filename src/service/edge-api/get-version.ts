/**
 * `GET /edge/v1/version`: what edges poll. The response is small, and 304 while nothing changed, so that a poll every
 * few seconds from every data centre costs next to nothing. With `?bots` it also names the bot table: edges that do not
 * ask for it accept no member that they do not know. `reads` lists the formats that the edge can read. The
 * header `x-gatehouse-sent-at` says the service's time.
 */
import type { EdgeVersion } from '../../contract/edge/edge-api.ts';
import {
  READS_PARAMETER,
  botTableFormats,
  configFormats,
  formatsFor,
  rulesetFormats,
} from '../../contract/edge/formats.ts';
import { SENT_AT_HEADER } from '../../contract/edge/record-bounds.ts';
import { currentBotTable } from '../../store/d1/bot-tables.ts';
import { ruleBook } from '../../store/rule-book/client.ts';
import { revalidatedJson } from '../http/if-none-match.ts';
import { configVersionFor } from './edge-config.ts';
import type { EdgeRoute } from './edge-route.ts';

export const getVersion: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/version',
  async handler({ store, instance, clientJwtId, request, nowMs }) {
    const { searchParams } = new URL(request.url);
    const withBots = searchParams.has('bots');
    const reads = searchParams.get(READS_PARAMETER);
    const [rulesetFormat] = formatsFor(rulesetFormats, reads);
    const [configFormat] = formatsFor(configFormats, reads);
    const [configVersion, { base, delta }, table] = await Promise.all([
      configVersionFor(store, instance, nowMs, configFormat),
      ruleBook(store, instance.id).currentVersion({ jti: clientJwtId, at: nowMs }, rulesetFormat),
      withBots ? currentBotTable(store, instance.accountId, formatsFor(botTableFormats, reads)) : null,
    ]);
    const version: EdgeVersion = {
      configVersion,
      base: { hash: base.hash, version: base.version },
      delta: { version: delta.version },
      ...(withBots ? { bots: table === null ? null : { hash: table } } : {}),
    };
    const response = revalidatedJson(
      request,
      `"${configVersion}.${base.hash}.${delta.version}${withBots ? `.${table ?? ''}` : ''}"`,
      version,
    );
    response.headers.set(SENT_AT_HEADER, String(nowMs));
    return response;
  },
};
