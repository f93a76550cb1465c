/**
 * Stands in for a colo cache: a server on loopback that speaks the protocol with which workerd asks for the Cache API.
 * It keeps what one workerd stored for the next one, in memory and however old it is.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CacheServer {
  /** `127.0.0.1:port` */
  address: string;
  /** Bodies, by the path of their address. */
  parts: ReadonlyMap<string, Buffer>;
  /** Stores nothing from now on, so that every isolate finds the same. */
  freeze(): void;
  stop(): Promise<void>;
}

const END_OF_HEADERS = '\r\n\r\n';

export async function startCacheServer(): Promise<CacheServer> {
  const parts = new Map<string, Buffer>();
  let frozen = false;
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = request.url ?? '';
    if (request.method === 'PUT') {
      // The body of the call is a response as it is on the wire.
      const stored = await bytesOf(request);
      if (!frozen) parts.set(name, stored.subarray(stored.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length));
      response.writeHead(204).end();
      return;
    }
    const found = parts.get(name);
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
