/** Stands between the command line and a service, and does what a test says at a call: fail before or after its effect. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

type Fault = 'before' | 'after' | null;

export interface FaultyProxy {
  url: string;
  /** Calls since the last reset. */
  calls: string[];
  /** Asked at every call. `before`: the call does not reach the service. `after`: its response is lost. */
  at: (path: string) => Fault | Promise<Fault>;
  close: () => Promise<void>;
}

export async function startFaultyProxy(serviceUrl: string): Promise<FaultyProxy> {
  const proxy: FaultyProxy = { url: '', calls: [], at: () => null, close: async () => {} };
  const server: Server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const body = await bodyOf(request);
    proxy.calls.push(path);
    const fault = await proxy.at(path);
    if (fault === 'before') {
      response.destroy();
      return;
    }
    const method = request.method ?? 'POST';
    const answer = await fetch(`${serviceUrl}${path}`, {
      method,
      headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { body }),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (fault === 'after') response.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(bytes);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy.close = () =>
    new Promise((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  return proxy;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks) as Buffer<ArrayBuffer>;
}
