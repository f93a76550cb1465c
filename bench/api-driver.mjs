/**
 * The service Worker with routes beside: they write captcha records and verdicts into the real log, so that the bench can ask an
 * account that has a lot of them. The old ones are left as sealing leaves them, by the code that sealing runs, without
 * having been in the table first; the newest are appended as any captcha is.
 */
import service from '../src/service/index.ts';
import { appendCaptchas } from '../src/store/event-log/client/captcha-log.ts';
import { mergeCaptcha } from '../src/store/event-log/captcha-record.ts';
import { HotRows } from '../src/store/event-log/shard/hot-rows.ts';
import { captchaRow, logRecord } from '../src/store/event-log/log-record.ts';
import { appendRows, verdictLogOf } from '../src/store/event-log/client/verdict-log.ts';
import { verdictRow } from '../src/store/event-log/log-row.ts';
import { buildSegment } from '../src/store/event-log/shard/segment-build.ts';
import { BLOCK_ROWS } from '../src/store/event-log/segment-block.ts';
import { beginSegment, putSegment, recordSealed } from '../src/store/event-log/shard/segments.ts';
import { VerdictShard as ServiceShard } from '../src/store/event-log/shard/verdict-shard.ts';
import { records } from './log-records.mjs';

export { RiskBook, RuleBook, SpendLedger } from '../src/service/index.ts';

const PER_APPEND = 250;
const types = ['pow', 'image', 'puzzle', 'pow', 'blocked'];
const countries = ['DE', 'FR', 'US', 'IN', 'BR'];

export class VerdictShard extends ServiceShard {
  #loading = null;

  /** One segment. To be followed by `restart`: the shard itself does not see it until then. */
  async load({ accountId, first, count, since, stepMs, ...sites }) {
    const { storage } = this.ctx;
    const hot = (this.#loading ??= new HotRows(storage));
    const rows = [];
    for (let number = first; number < first + count; number++) {
      const row = captchaRow(mergeCaptcha(null, issued(accountId, sites, number, since + number * stepMs)));
      hot.pending.add(logRecord(row.body), row.timestamp, row.outcome);
      rows.push({ id: row.id, timestamp: row.timestamp, body: row.body });
    }
    rows.sort((a, b) => a.timestamp - b.timestamp || (a.id < b.id ? -1 : 1));
    const pages = Array.from({ length: Math.ceil(rows.length / BLOCK_ROWS) }, (_, page) =>
      rows.slice(page * BLOCK_ROWS, (page + 1) * BLOCK_ROWS),
    );
    const built = await buildSegment(pages);
    const segment = beginSegment(storage.sql, this.ctx.id.name, rows.at(-1), hot.lastSeq, Date.now());
    await putSegment(this.env.SEGMENTS, segment.object, built);
    hot.mergePending(() => recordSealed(storage.sql, hot, segment, built, rows));
  }

  /** Memory is made from the tables again, as after any restart. */
  async restart() {
    await this.ctx.storage.sync();
    this.ctx.abort('loaded');
  }
}

async function appendNew(env, { accountId, first, count, since, stepMs, ...sites }) {
  for (let at = 0; at < count; at += PER_APPEND) {
    const events = Array.from({ length: Math.min(PER_APPEND, count - at) }, (_, index) =>
      issued(accountId, sites, first + at + index, since + (first + at + index) * stepMs),
    );
    await appendCaptchas(env, events);
  }
}

async function appendVerdicts(env, { instanceId, ...span }) {
  const log = verdictLogOf({ id: instanceId });
  const rows = [...records(span)].map((one) => verdictRow({ ...one, instance_id: instanceId }, true));
  for (let at = 0; at < rows.length; at += PER_APPEND) await appendRows(env, log, rows.slice(at, at + PER_APPEND), 30);
}

const captchaShard = (env, accountId) =>
  env.VERDICT_SHARD.get(env.VERDICT_SHARD.idFromName(`captcha/${accountId}:0:0`));

const ways = {
  '/bench/sealed': async (env, span) => captchaShard(env, span.accountId).load(span),
  '/bench/restart': async (env, { accountId }) =>
    captchaShard(env, accountId)
      .restart()
      .catch(() => undefined),
  '/bench/captchas': appendNew,
  '/bench/verdicts': appendVerdicts,
};

export default {
  async fetch(request, env, context) {
    const way = ways[new URL(request.url).pathname];
    if (!way) return service.fetch(request, env, context);
    await way(env, await request.json());
    return new Response(null, { status: 204 });
  },
};

/** Seven of eight belong to the busy sites, the others to any. */
function issued(accountId, { busySites, siteKeys }, number, timestamp) {
  const sites = number % 8 === 0 ? siteKeys : busySites;
  return {
    event: 'issued',
    jti: crypto.randomUUID().replaceAll('-', ''),
    account_id: accountId,
    site_key: sites[Math.floor(number / 8) % sites.length],
    timestamp: Math.floor(timestamp),
    captcha_type: types[number % types.length],
    facts: {
      ip: `10.${(number >> 12) & 255}.${(number >> 4) & 255}.${number & 15}`,
      asn: 64496 + (number % 50),
      country: countries[number % countries.length],
      ja4: `t13d15${String(10 + (number % 80))}h2_8daaf6152771_b0da82dd${String(1000 + (number % 400))}`,
      user_agent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/${100 + (number % 30)}.0.0.0`,
      device_type: 'desktop',
      ip_category: number % 9 === 0 ? ['datacenter', 'vpn'] : [],
      host: 'example.com',
      action: null,
      lane: 'rsw',
      user_account: `account-${number % 50_000}`,
      session: null,
      web_view: false,
      iframe: false,
      score: 0.1,
      threshold: 0.5,
      detectors: number % 11 === 0 ? ['automation', 'burst'] : [],
      selection_reason: number % 7 === 0 ? 'OLD_TIMESTAMP' : null,
      access_rule: number % 13 === 0 ? `rule-${number % 1000}` : null,
      policy_type: number % 13 === 0 ? 'restrict' : null,
    },
  };
}
