/**
 * Stands in for the operators of bots in the local stack, which works without the internet: a part of the networks that
 * some of them publish, in the form in which each of them does. What is not here was "never read" for the stack.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const prefixes = (...networks: string[]): string =>
  JSON.stringify({
    creationTime: '2026-11-01T00:00:00.000000',
    prefixes: networks.map((one) => (one.includes(':') ? { ipv6Prefix: one } : { ipv4Prefix: one })),
  });

/** By host and path. */
const documents: Readonly<Record<string, string>> = {
  'developers.google.com/static/crawling/ipranges/common-crawlers.json': prefixes(
    '66.249.64.0/27',
    '66.249.66.0/27',
    '66.249.79.0/27',
    '2001:4860:4801:10::/64',
  ),
  'developers.google.com/static/crawling/ipranges/special-crawlers.json': prefixes('72.14.199.0/27', '209.85.238.0/27'),
  'developers.google.com/static/crawling/ipranges/user-triggered-fetchers-google.json': prefixes(
    '64.233.172.0/27',
    '66.102.6.0/27',
    '66.249.80.0/27',
  ),
  'www.bing.com/toolbox/bingbot.json': prefixes(
    '13.66.139.0/24',
    '40.77.139.0/25',
    '40.77.167.0/24',
    '157.55.39.0/24',
    '207.46.13.0/24',
  ),
  'openai.com/gptbot.json': prefixes('4.227.36.0/25', '20.125.66.80/28', '20.171.206.0/24', '52.230.152.0/24'),
  'openai.com/searchbot.json': prefixes('20.42.10.176/28', '51.8.102.0/24', '172.203.190.128/28'),
  'openai.com/chatgpt-user.json': prefixes('13.65.240.240/28', '23.98.142.176/28', '40.84.180.224/28'),
  'claude.com/crawling/bots.json': prefixes('216.73.216.0/22'),
  'www.perplexity.com/perplexitybot.json': prefixes('3.224.62.45/32', '18.210.92.235/32', '107.20.236.150/32'),
  'search.developer.apple.com/applebot.json': prefixes('17.22.237.0/24', '17.241.208.160/27'),
  'index.commoncrawl.org/ccbot.json': prefixes('18.97.9.168/29', '18.97.14.80/29', '2600:1f28:365:80b0::/60'),
  'duckduckgo.com/duckduckbot.json': prefixes('40.80.242.63/32', '51.8.253.152/32', '57.152.72.128/32'),
  'www.facebook.com/peering/geofeed': '31.13.24.0/21,IE,,,\n66.220.144.0/20,US,,,\n2a03:2880::/32,US,,,\n',
  'stripe.com/files/ips/ips_webhooks.json': JSON.stringify({
    WEBHOOKS: ['3.18.12.63', '3.130.192.231', '13.235.14.237'],
  }),
  'cdn.uptimerobot.com/api/IPv4andIPv6.txt': '69.162.124.226\r\n69.162.124.227\r\n2607:ff68:107::3\r\n',
};

export interface BotNetworks {
  /** The value of `BOT_RANGES_BASE`. */
  url: string;
  close(): Promise<void>;
}

export async function startBotNetworks(): Promise<BotNetworks> {
  const server = createServer((request, response) => {
    const document = documents[(request.url ?? '').slice(1)];
    if (document === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Not in the local stack\n');
      return;
    }
    const etag = `"${createHash('sha256').update(document).digest('hex').slice(0, 16)}"`;
    const isKnown = request.headers['if-none-match'] === etag;
    const type = document.startsWith('{') ? 'application/json' : 'text/plain';
    response.writeHead(isKnown ? 304 : 200, { etag, 'content-type': type }).end(isKnown ? undefined : document);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
