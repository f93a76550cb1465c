/** Directories of agents and a DNS resolver as servers of a test, and the service's variables that lead to them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type DirectoryAnswer = (response: ServerResponse, request: IncomingMessage) => void;
export interface DnsRow {
  type: number;
  data: string;
}

export interface BotServers {
  /** What a host answers, by its name in `BOT_STAND_INS`. */
  hosts: Map<string, DirectoryAnswer>;
  /** Host and path of each request to a directory. */
  fetches: string[];
  /** By name and type, such as `crawl.example. A`. `broken`: the resolver fails. */
  names: Map<string, readonly DnsRow[] | 'broken'>;
  /** Name and type of each question to the resolver. */
  questions: string[];
  serviceVars: Record<string, string>;
  close(): void;
}

export const json =
  (body: unknown, headers: Record<string, string> = {}): DirectoryAnswer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

export async function startBotServers(hostNames: readonly string[]): Promise<BotServers> {
  const hosts: BotServers['hosts'] = new Map();
  const names: BotServers['names'] = new Map();
  const fetches: string[] = [];
  const questions: string[] = [];
  const directories = createServer((request, response) => {
    // A stand-in gets its own host in the first part of the path.
    const [, host = '', ...path] = (request.url ?? '').split('/');
    fetches.push(`${host}/${path.join('/')}`);
    const answer = hosts.get(host);
    if (answer === undefined) response.writeHead(404).end();
    else answer(response, request);
  });
  const dns = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://dns.test').searchParams;
    const question = `${query.get('name')} ${query.get('type')}`;
    questions.push(question);
    const found = names.get(question);
    if (found === 'broken') {
      response.writeHead(500).end();
      return;
    }
    const rows = found?.map((row) => ({ TTL: 600, ...row }));
    json({ Status: found === undefined ? 3 : 0, Answer: rows })(response, request);
  });
  const [directoryPort, dnsPort] = await Promise.all([directories, dns].map(portOf));
  return {
    hosts,
    fetches,
    names,
    questions,
    serviceVars: {
      DNS_RESOLVER_URL: `http://127.0.0.1:${dnsPort}/dns-query`,
      BOT_STAND_INS: hostNames.map((host) => `${host}=http://127.0.0.1:${directoryPort}/${host}`).join(' '),
    },
    close() {
      for (const server of [directories, dns]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}
