/** The edge on workerd itself, with an origin that answers whatever a test gives it, and both read to the byte. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type RawWorker, startRawEdge } from '../support/raw-workerd.ts';
import { startUpstream, type Upstream } from './edge-upstream.ts';

export interface OriginAnswer {
  status?: number;
  headers?: OutgoingHttpHeaders;
  /** Each is written by itself. Without a `content-length` the body is chunked. */
  pieces?: readonly (Buffer | string | Promise<Buffer>)[];
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export let upstream: Upstream;
export let edgeUrl: string;
export let originUrl: string;
/** What the origin was asked, oldest first. */
export let asked: IncomingMessage[];
let answer: (request: IncomingMessage) => OriginAnswer;

export function originAnswers(with_: OriginAnswer | ((request: IncomingMessage) => OriginAnswer)): void {
  answer = typeof with_ === 'function' ? with_ : () => with_;
  asked = [];
}

/** Registers the hooks. Call it once in a test file. */
export function useEdgeBeforeOrigin(policy: object): void {
  let edge: RawWorker | undefined;
  let origin: Server | undefined;
  beforeAll(async () => {
    upstream = await startUpstream();
    upstream.setPolicy(policy);
    await upstream.setRules([{ type: 'userAgent', value: 'blockme', verdict: 'block' }]);
    originAnswers({});
    origin = createServer((request, response) => {
      asked.push(request);
      const { status = 200, headers = {}, pieces = [''] } = answer(request);
      response.writeHead(status, { 'content-type': 'text/html', ...headers });
      void writePieces(response, pieces);
    });
    await new Promise<void>((ready) => origin!.listen(0, '127.0.0.1', ready));
    originUrl = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
    edge = await startRawEdge({
      vars: {
        SERVICE_URL: upstream.url,
        ORIGIN_URL: originUrl,
        CLIENT_JWT: upstream.clientJwt,
        OPS_TOKEN: 'a-token-of-the-operators',
      },
    });
    edgeUrl = edge.url;
    await eventually(
      async () => (await fetch(edgeUrl, { headers: { 'user-agent': 'BlockMe' } })).status,
      (status) => status === 403,
    );
  });
  afterAll(async () => {
    await edge?.stop();
    origin?.closeAllConnections();
    origin?.close();
    await upstream?.stop();
  });
}

async function writePieces(response: ServerResponse, pieces: NonNullable<OriginAnswer['pieces']>): Promise<void> {
  for (const piece of pieces.slice(0, -1)) response.write(piece instanceof Promise ? await piece : piece);
  response.end(await pieces.at(-1));
}

/** The response as it comes, for a test that reads it before it has ended. */
export function callInto(sink: NodeJS.WritableStream, headers: OutgoingHttpHeaders): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(edgeUrl, { headers }, (response) => {
      response.pipe(sink);
      resolve();
    });
    outgoing.once('error', reject);
    outgoing.end();
  });
}

/** The response as it came, nothing decoded. */
export function call(headers: OutgoingHttpHeaders = {}, method = 'GET', path = '/'): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(edgeUrl + path, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
      response.on('error', reject);
    });
    outgoing.once('error', reject);
    outgoing.end();
  });
}
