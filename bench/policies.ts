/**
 * `npm run bench -- policies [COUNT…]`: what policies cost a request, at 0, 100 and 1,000 of them. Each evaluation is timed
 * alone, without the cost of reading the clock; the best of several rounds counts, because a busy machine can only add to
 * it. The request's texts were just read, as at an edge. The peer reads every condition of the list as a tree, as it is stored.
 */
import type { Policy, PolicyAction } from '../src/contract/management/policy-set/policy.ts';
import { compilePolicies } from '../src/policies/compile/compile-policies.ts';
import type { PolicyRequest } from '../src/policies/request.ts';
import { parseExpression } from '../src/policies/text/parse.ts';
import { holds } from '../test/property/policies/oracle.ts';
import { type Random, randomFrom } from '../test/property/rules/random.ts';

const DEFAULT_COUNTS = [0, 100, 1000];
const REQUESTS = 4096;
const ROUNDS = 15;
const PEER_REQUESTS = 64;
const SEED = 20_261;
const CACHE_LINE_CHARS = 32;

/** What operators write, in about these shares: paths and cookies most of all, then networks, headers and agents. */
const writers: readonly ((random: Random, index: number) => string)[] = [
  (_, index) => `path startsWith "/shop/section-${index}/" and not cookie["sid"] exists`,
  (_, index) => `path equals "/api/v1/resource-${index}" and method in ["POST", "PUT", "DELETE"]`,
  (_, index) => `path matches "/files/*/private-${index}/**" and not country in ["DE", "AT", "CH"]`,
  (random, index) =>
    `host equals "site-${index}.example" and path startsWith "/${random.pick(['admin', 'wp', 'login'])}"`,
  (random) => `ip ipIn ["${random.below(223) + 1}.${random.below(256)}.${random.below(256)}.0/24"]`,
  (_, index) => `asn in [${64_512 + index}, ${65_000 + index}] and riskScore greaterThan 0.3`,
  (_, index) => `header["x-client"] equals "app-${index}" and query["key"] exists`,
  (_, index) => `cookie["experiment"] equals "group-${index}" or query["group"] equals "group-${index}"`,
  (_, index) => `userAgent contains "scraper-${index}" and not bot exists`,
  (random, index) =>
    `country equals "${random.pick(['RU', 'BR', 'IN', 'VN'])}" and path startsWith "/checkout/${index}"`,
];
const actions: PolicyAction[] = [{ action: 'challenge', level: 1 }, { action: 'block' }, { action: 'allow' }];

function policiesOf(count: number, random: Random): Policy[] {
  return Array.from({ length: count }, (_, index) => {
    const when = parseExpression(random.pick(writers)(random, index));
    if (!when.ok) throw new Error(when.error.message);
    return { name: `p${index}`, when: when.value, then: random.pick(actions), mode: 'enforce' };
  });
}

function requestsOf(count: number, random: Random): PolicyRequest[] {
  return Array.from({ length: REQUESTS }, () => {
    const index = random.below(Math.max(count, 1));
    const path = random.pick([
      '/',
      `/shop/section-${index}/item-${random.below(1000)}`,
      `/api/v1/resource-${index}`,
      `/files/u${random.below(100)}/public/a.pdf`,
      `/assets/app.${random.below(1000)}.js`,
    ]);
    return {
      host: 'shop.example',
      method: random.pick(['GET', 'GET', 'GET', 'POST']),
      paths: [path],
      query: random.pick(['', `?page=${random.below(20)}&sort=price`, '?utm_source=mail&utm_campaign=spring']),
      headers: new Headers({
        accept: 'text/html',
        'accept-language': 'de-DE,de;q=0.9,en;q=0.8',
        'x-client': `web-${random.below(10)}`,
        referer: 'https://shop.example/',
      }),
      cookie: `sid=${random.word()}; consent=yes; theme=dark; experiment=group-${random.below(20_000)}`,
      ip: `${random.below(223) + 1}.${random.below(256)}.${random.below(256)}.${random.below(256)}`,
      asn: 1000 + random.below(60_000),
      country: random.pick(['DE', 'AT', 'US', 'FR', 'BR']),
      ja4: 't13d1516h2_8daaf6152771_02713d6af862',
      userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/${100 + random.below(40)}.0.0.0 Safari/537.36`,
      deviceType: 'desktop',
      bot: null,
      agent: null,
      ipCategories: [],
      sessionStatus: 'active',
      riskScore: random.below(100) / 100,
      pathType: 'html',
    };
  });
}

/** Microseconds of the median and of the 99th percentile, in the best round of each. */
function percentiles(requests: readonly PolicyRequest[], act: (request: PolicyRequest) => unknown): [number, number] {
  const samples = new Float64Array(requests.length);
  let touched = 0;
  const round = (measured: (request: PolicyRequest) => unknown): [number, number] => {
    for (const [index, request] of requests.entries()) {
      touched += readTexts(request);
      const startedAt = performance.now();
      measured(request);
      samples[index] = performance.now() - startedAt;
    }
    samples.sort();
    return [samples[Math.floor(samples.length / 2)]! * 1000, samples[Math.floor(samples.length * 0.99)]! * 1000];
  };
  const clock = Math.min(...Array.from({ length: ROUNDS }, () => round(() => null)[0]));
  const rounds = Array.from({ length: ROUNDS }, () => round(act));
  if (touched === 0) throw new Error('The requests are empty');
  return [Math.min(...rounds.map(([p50]) => p50)) - clock, Math.min(...rounds.map(([, p99]) => p99)) - clock];
}

/** Brings the request's texts into the processor's cache. */
function readTexts({ paths, cookie, query, userAgent, ip }: PolicyRequest): number {
  let sum = 0;
  for (const text of [paths?.[0], cookie, query, userAgent, ip]) {
    for (let at = 0; at < (text?.length ?? 0); at += CACHE_LINE_CHARS) sum += text!.charCodeAt(at);
  }
  return sum;
}

export async function run(args: readonly string[]): Promise<void> {
  const counts = args.length > 0 ? args.map(Number) : DEFAULT_COUNTS;
  const lines = ['policies   compile   p50 a request   p99 a request   decided   tree by tree'];
  for (const count of counts) {
    const random = randomFrom(SEED);
    const policies = policiesOf(count, random);
    const requests = requestsOf(count, random);
    const startedAt = performance.now();
    const compiled = compilePolicies(policies, new Set());
    const compileMs = performance.now() - startedAt;
    const [p50, p99] = percentiles(requests, (request) => compiled.evaluate(request));
    const decided = requests.filter((request) => !compiled.evaluate(request).isOpen).length / requests.length;
    const [peer] = percentiles(requests.slice(0, PEER_REQUESTS), (request) =>
      policies.some(({ when }) => holds(when, { request, path: request.paths?.[0] ?? '', isFolded: false })),
    );
    const cells = [
      String(count).padStart(8),
      `${compileMs.toFixed(1)} ms`.padStart(9),
      `${p50.toFixed(2)} µs`.padStart(15),
      `${p99.toFixed(2)} µs`.padStart(15),
      `${(decided * 100).toFixed(1)} %`.padStart(9),
      `${peer.toFixed(1)} µs`.padStart(14),
    ];
    lines.push(cells.join(' '));
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}
