/**
 * The service Worker with one route more: it writes captcha records into the real log, many per call, so that
 * the bench can ask an account that has a lot of them.
 */
import service from '../src/service/index.ts';
import { appendCaptchas } from '../src/store/captcha-log/captcha-log.ts';

export { RuleBook, SpendLedger, VerdictShard } from '../src/service/index.ts';

const PER_APPEND = 250;
const types = ['pow', 'image', 'puzzle'];
const countries = ['DE', 'FR', 'US', 'IN', 'BR'];

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== '/bench/captchas') return service.fetch(request, env, context);
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
      ja4: null,
      user_agent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/${100 + (number % 30)}.0.0.0`,
      device_type: 'desktop',
      ip_category: [],
      host: 'example.com',
      action: null,
      lane: 'rsw',
      user_account: null,
      session: null,
      web_view: false,
      iframe: false,
      score: 0.1,
      threshold: 0.5,
      detectors: [],
      selection_reason: null,
      access_rule: null,
      policy_type: null,
    },
  };
}
