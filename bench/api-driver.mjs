/**
 * The service Worker with one route more: it writes captcha records into the real log, many per call, so that
 * the bench can ask an account that has a lot of them, and tells when sealing has caught up.
 */
import service from '../src/service/index.ts';
import { appendCaptchas } from '../src/store/captcha-log/captcha-log.ts';
import { shard } from '../src/store/verdict-log/shards.ts';

export { RiskBook, RuleBook, SpendLedger, VerdictShard } from '../src/service/index.ts';

const PER_APPEND = 250;
const types = ['pow', 'image', 'puzzle', 'pow', 'blocked'];
const countries = ['DE', 'FR', 'US', 'IN', 'BR'];

export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === '/bench/hot') {
      const { hotRows } = await shard(env, `captcha/${await request.text()}:0:0`).statistics();
      return new Response(String(hotRows));
    }
    if (pathname !== '/bench/captchas') return service.fetch(request, env, context);
    const { accountId, siteKeys, first, count, since, stepMs } = await request.json();
    for (let at = 0; at < count; at += PER_APPEND) {
      const events = Array.from({ length: Math.min(PER_APPEND, count - at) }, (_, index) =>
        issued(accountId, siteKeys, first + at + index, since + (first + at + index) * stepMs),
      );
      await appendCaptchas(env, events);
    }
    return new Response(null, { status: 204 });
  },
};

function issued(accountId, siteKeys, number, timestamp) {
  return {
    event: 'issued',
    jti: crypto.randomUUID().replaceAll('-', ''),
    account_id: accountId,
    site_key: siteKeys[number % siteKeys.length],
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
