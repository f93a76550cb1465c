/**
 * Stands in for the hosts that examples of commands name, so that each works without the internet: the operators of bots
 * with a list of networks each, a publisher of a blocklist, and the receiver of a webhook.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { botCatalogue } from '../../src/service/bots/bot-catalogue.ts';
import type { RangeSource } from '../../src/bots/catalogue.ts';

export interface ExampleHosts {
  /** Variables that lead the service to them. */
  serviceVars: Record<string, string>;
  /** The list of this operator is another one from now on. */
  replaceNetworks(url: string): void;
  close(): Promise<void>;
}

const BLOCKLIST = '1.10.16.0/20 ; SBL256894\n1.19.0.0/16 ; SBL434604\n1.32.128.0/18 ; SBL286275\n';
const before = ['20.42.10.176/28', '51.8.102.0/24', '52.230.152.0/24', '172.203.190.128/28'];
const after = ['13.65.240.240/28', '23.98.142.176/28', '40.84.180.224/28'];

export async function startExampleHosts(): Promise<ExampleHosts> {
  const replaced = new Set<string>();
  const sources = new Map(botCatalogue.rangeSources.map((source) => [source.url, source]));
  const server = createServer((request, response) => {
    const url = `https:/${request.url ?? ''}`;
    const source = sources.get(url);
    if (request.url?.startsWith('/hooks.example.com/')) response.writeHead(204).end();
    else if (request.url === '/www.spamhaus.org/drop/drop.txt')
      response.setHeader('content-type', 'text/plain').end(BLOCKLIST);
    else if (source === undefined) response.writeHead(404).end();
    else response.setHeader('content-type', 'text/plain').end(written(source, replaced.has(url) ? after : before));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const standIns = ['hooks.example.com', 'www.spamhaus.org'].map((host) => `${host}=${origin}/${host}`);
  return {
    serviceVars: { BOT_RANGES_BASE: origin, BOT_STAND_INS: standIns.join(' ') },
    replaceNetworks: (url) => replaced.add(url),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** In the form in which the operator writes its list. */
function written({ form, members = [''] }: RangeSource, networks: readonly string[]): string {
  if (form === 'text') return networks.join('\n');
  if (form === 'geofeed') return networks.map((network) => `${network},US,,,`).join('\n');
  if (form === 'prefixes') return JSON.stringify({ prefixes: networks.map((ipv4Prefix) => ({ ipv4Prefix })) });
  if (members.includes('')) return JSON.stringify(networks);
  let document: Record<string, unknown> = {};
  for (const member of members) {
    const names = member.split('.');
    document = { ...document, ...nested(names, networks) };
  }
  return JSON.stringify(document);
}

/** `a.b` is `b` in `a`. */
function nested([name = '', ...deeper]: readonly string[], networks: readonly string[]): Record<string, unknown> {
  return { [name]: deeper.length === 0 ? networks : nested(deeper, networks) };
}
