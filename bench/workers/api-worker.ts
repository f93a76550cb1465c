/**
 * The Worker of `npm run bench -- api`: the service, and beside it routes that write captcha records and verdicts into
 * the real log, so that the bench can measure an account that has many of them. Old records are written as sealing
 * leaves them. The newest are appended like any captcha.
 */
import service from '../../src/service/index.ts';
import { type CaptchaEvent, mergeCaptcha } from '../../src/store/event-log/captcha-record.ts';
import { appendCaptchas, captchaLog } from '../../src/store/event-log/client/captcha-log.ts';
import { counterShardName } from '../../src/store/event-log/client/shards.ts';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { verdictLogOf } from '../../src/store/event-log/client/verdict-log.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import { LoadedShard, restarted } from './loaded-shard.ts';
import { madeRecords, type RecordSpan } from './log-traffic.ts';

export { RiskBook, RuleBook, SpendLedger } from '../../src/service/index.ts';

interface BenchEnv extends Omit<ServiceEnv, 'VERDICT_SHARD'> {
  VERDICT_SHARD: DurableObjectNamespace<VerdictShard>;
}

/** Captchas `first` to `first + count - 1`, one every `stepMs` from `since`. */
interface CaptchaSpan {
  accountId: string;
  siteKeys: string[];
  /** Most captchas belong to these sites. */
  busySites: string[];
  first: number;
  count: number;
  /** Epoch milliseconds of captcha 0. */
  since: number;
  stepMs: number;
}

const APPENDED_AT_ONCE = 250;
const RETENTION_DAYS = 30;
const types = ['pow', 'image', 'puzzle', 'pow', 'blocked'] as const;
const countries = ['DE', 'FR', 'US', 'IN', 'BR'] as const;

export class VerdictShard extends LoadedShard {
  load(span: CaptchaSpan): Promise<number> {
    return this.loadSegment(rowsOf(span));
  }
}

function* rowsOf(span: CaptchaSpan) {
  for (const event of issuedIn(span)) {
    const record = mergeCaptcha(null, event);
    yield { id: record.id, timestamp: record.timestamp, body: JSON.stringify(record) };
  }
}

async function writeSealed(env: BenchEnv, span: CaptchaSpan): Promise<void> {
  await captchaShard(env, span.accountId).load(span);
}

async function restart(env: BenchEnv, { accountId }: { accountId: string }): Promise<void> {
  await restarted(captchaShard(env, accountId));
}

async function appendNew(env: BenchEnv, span: CaptchaSpan): Promise<void> {
  for (const events of batches([...issuedIn(span)])) await appendCaptchas(env, events);
}

async function appendVerdicts(env: BenchEnv, { instanceId, ...span }: RecordSpan & { instanceId: string }) {
  const rows = [...madeRecords(span)].map((record) => verdictRow({ ...record, instance_id: instanceId }, true));
  for (const some of batches(rows))
    await appendRows(env, verdictLogOf({ id: instanceId }), some, { retentionDays: RETENTION_DAYS, nowMs: Date.now() });
}

function batches<One>(all: readonly One[]): One[][] {
  const count = Math.ceil(all.length / APPENDED_AT_ONCE);
  return Array.from({ length: count }, (_, at) => all.slice(at * APPENDED_AT_ONCE, (at + 1) * APPENDED_AT_ONCE));
}

function captchaShard(env: BenchEnv, accountId: string) {
  return env.VERDICT_SHARD.get(env.VERDICT_SHARD.idFromName(counterShardName(captchaLog(accountId))));
}

const routes: Readonly<Record<string, (env: BenchEnv, span: never) => Promise<void>>> = {
  '/bench/sealed': writeSealed,
  '/bench/restart': restart,
  '/bench/captchas': appendNew,
  '/bench/verdicts': appendVerdicts,
};

export default {
  async fetch(request, env, context) {
    const route = routes[new URL(request.url).pathname];
    if (!route) return service.fetch(request, env, context);
    await route(env, await request.json<never>());
    return new Response(null, { status: 204 });
  },
} satisfies ExportedHandler<BenchEnv>;

function* issuedIn({ accountId, busySites, siteKeys, first, count, since, stepMs }: CaptchaSpan) {
  for (let number = first; number < first + count; number++) {
    // Seven of eight belong to the busy sites, the others to any.
    const sites = number % 8 === 0 ? siteKeys : busySites;
    const siteKey = sites[Math.floor(number / 8) % sites.length] ?? '';
    yield issued({ accountId, siteKey }, number, since + number * stepMs);
  }
}

function issued(of: { accountId: string; siteKey: string }, number: number, timestamp: number): CaptchaEvent {
  return {
    event: 'issued',
    jti: crypto.randomUUID().replaceAll('-', ''),
    account_id: of.accountId,
    site_key: of.siteKey,
    timestamp: Math.floor(timestamp),
    captcha_type: types[number % types.length] ?? 'pow',
    facts: {
      ip: `10.${(number >> 12) & 255}.${(number >> 4) & 255}.${number & 15}`,
      asn: 64496 + (number % 50),
      country: countries[number % countries.length] ?? null,
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
