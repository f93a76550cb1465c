/**
 * Stands in for a colo cache: a server on loopback that speaks the protocol with which workerd asks for the Cache API.
 * It keeps in memory what one workerd stored for the next one. Once it is frozen, nothing changes and nothing expires.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CacheServer {
  /** `127.0.0.1:port` */
  address: string;
  /** Bodies, by the path of their address. */
  parts: ReadonlyMap<string, Buffer>;
  /** From now on every isolate finds the same. */
  freeze(): void;
  stop(): Promise<void>;
}

const END_OF_HEADERS = '\r\n\r\n';

export async function startCacheServer(): Promise<CacheServer> {
  const parts = new Map<string, Buffer>();
  const expiries = new Map<string, number>();
  let frozen = false;
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = request.url ?? '';
    if (request.method === 'PUT') {
      // The body of the call is a response as it is on the wire.
      const stored = await bytesOf(request);
      const headersEnd = stored.indexOf(END_OF_HEADERS);
      const seconds = /max-age=(\d+)/.exec(stored.toString('latin1', 0, headersEnd))?.[1];
      if (!frozen) {
        parts.set(name, stored.subarray(headersEnd + END_OF_HEADERS.length));
        expiries.set(name, Date.now() + Number(seconds ?? 0) * 1000);
      }
      response.writeHead(204).end();
      return;
    }
    const isFresh = frozen || Date.now() < (expiries.get(name) ?? 0);
    const found = isFresh ? parts.get(name) : undefined;
    if (found) response.writeHead(200, { 'cf-cache-status': 'HIT', 'content-length': found.length }).end(found);
    else response.writeHead(504, { 'cf-cache-status': 'MISS' }).end();
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    parts,
    freeze: () => void (frozen = true),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
