/** What edges poll and load: the version, the config, the rules and the bot table. */
import { RULESET_MEDIA_TYPE } from '../../contract/edge/edge-api.ts';
import type { EdgeVersion } from '../../contract/edge/edge-responses.ts';
import {
  botTableFormats,
  configFormats,
  formatsFor,
  READS_PARAMETER,
  rulesetFormats,
} from '../../contract/edge/formats.ts';
import { SENT_AT_HEADER } from '../../contract/edge/record-bounds.ts';
import { botTableKey, COMMON_SCOPE, currentBotTable } from '../../store/d1/bot-tables.ts';
import { ruleBook } from '../../store/rule-book/client.ts';
import { revalidatedJson } from '../http/json-response.ts';
import { configVersionFor, edgeConfigFor } from './edge-config.ts';
import type { EdgeCall, EdgeRoute } from './edge-route.ts';
import { noteEdge } from './note-edge.ts';
import { rulesetKey } from '../../store/rule-book/ruleset-objects.ts';
import { errorResponse } from '../http/respond-error.ts';

const rulesetHashPattern = /^[0-9a-f]{64}$/;

/**
 * A ruleset file as a response. The address of a base names the hash of its content, and the address of a delta the
 * hash of its base and its version. So the file can be kept for a year, but only by the edge that asked for it: the
 * rules belong to one account.
 */
function rulesetResponse(body: BodyInit, etag: string): Response {
  return new Response(body, {
    headers: {
      'content-type': RULESET_MEDIA_TYPE,
      'cache-control': 'private, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      etag: `"${etag}"`,
    },
  });
}

/**
 * `GET /edge/v1/version`: what edges poll. The response is small, and 304 while nothing changed, so that a poll every
 * few seconds from every data centre costs next to nothing. With `?bots` it also names the bot table: edges that do not
 * ask for it accept no member that they do not know. `reads` lists the formats that the edge can read. The header
 * `x-gatehouse-sent-at` says the service's time.
 */
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

/**
 * `GET /edge/v1/config`: the policy, the site and the keys of the instance, in the newest format that the edge reads.
 * The edge revalidates them by their version.
 */
export const getConfig: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/config',
  async handler(call) {
    const { store, instance, request, nowMs } = call;
    const [format] = formatsFor(configFormats, new URL(request.url).searchParams.get(READS_PARAMETER));
    const config = await edgeConfigFor(store, instance, nowMs, format);
    noteEdge(call, { configVersion: config.configVersion });
    return revalidatedJson(request, `"${config.configVersion}"`, config);
  },
};

/**
 * `GET /edge/v1/rulesets/{hash}`: a base, streamed from R2. The object's key includes the caller's instance, so the
 * hash of another instance's ruleset finds nothing.
 */
export const getRuleset: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/rulesets/:hash',
  async handler(call, { hash = '' }) {
    const { store, instance } = call;
    if (!rulesetHashPattern.test(hash)) return errorResponse({ kind: 'ruleset-unknown' });
    const file = await store.RULESETS.get(rulesetKey(instance.id, hash));
    if (!file) {
      checkBase(call);
      return errorResponse({ kind: 'ruleset-unknown' });
    }
    noteEdge(call, { baseHash: hash });
    return rulesetResponse(file.body, hash);
  },
};

/**
 * `POST /edge/v1/rulesets/{hash}/refused`: an edge could not load the base that the service sent it. The rule book then
 * compares the stored file with its hash. The edge learns of a new base at its next poll.
 */
export const refuseRuleset: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/rulesets/:hash/refused',
  async handler(call, { hash = '' }) {
    if (!rulesetHashPattern.test(hash)) return errorResponse({ kind: 'ruleset-unknown' });
    checkBase(call);
    return new Response(null, { status: 202 });
  },
};

/** Behind the response: a compile takes seconds. */
function checkBase({ store, instance, waitUntil }: EdgeCall): void {
  const checked = ruleBook(store, instance.id).checkBase('refused');
  waitUntil(
    checked.catch((error: unknown) => {
      console.error(JSON.stringify({ level: 'error', event: 'base-not-checked', message: String(error) }));
    }),
  );
}

const versionPattern = /^(0|[1-9]\d{0,14})$/;

/**
 * `GET /edge/v1/rulesets/{hash}/delta/{version}`: the signed changes from a base up to a version. A base that is no
 * longer served, or a version that does not exist, is 404: the edge then asks for the version again.
 */
export const getDelta: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/rulesets/:hash/delta/:version',
  async handler({ store, instance, clientJwtId, nowMs }, { hash = '', version = '' }) {
    if (!rulesetHashPattern.test(hash) || !versionPattern.test(version)) {
      return errorResponse({ kind: 'ruleset-unknown' });
    }
    const file = await ruleBook(store, instance.id).delta(hash, Number(version), { jti: clientJwtId, at: nowMs });
    return file
      ? rulesetResponse(file as Uint8Array<ArrayBuffer>, `${hash}.${version}`)
      : errorResponse({ kind: 'ruleset-unknown' });
  },
};

/**
 * `GET /edge/v1/bots/{hash}`: the bot table that `/edge/v1/version` names, streamed from R2. The object's key includes
 * the caller's account, so the hash of another account's table finds nothing.
 */
export const getBots: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/bots/:hash',
  async handler({ store, instance }, { hash = '' }) {
    if (!rulesetHashPattern.test(hash)) return errorResponse({ kind: 'ruleset-unknown' });
    const { RULESETS } = store;
    const own = await RULESETS.get(botTableKey(instance.accountId, hash));
    const file = own ?? (await RULESETS.get(botTableKey(COMMON_SCOPE, hash)));
    return file ? rulesetResponse(file.body, hash) : errorResponse({ kind: 'ruleset-unknown' });
  },
};
