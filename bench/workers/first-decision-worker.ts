/**
 * The edge of `npm run bench -- first-decision` with marks: it notes when each part was found, hashed and verified and
 * when the rules were ready, and sends the notes with its response. Its times show where those of the edge go.
 */
import edge from '../../src/edge/index.ts';
import { Feed } from '../../src/edge/feed/feed.ts';

/** Since the request, in whole milliseconds: the platform's clock is no finer. */
type Mark = readonly [what: string, fromMs: number, toMs: number, bytes: number];

const marks: Mark[] = [];
let arrivedAtMs = 0;
const sinceArrival = (): number => performance.now() - arrivedAtMs;

const { subtle } = crypto;
const digest = subtle.digest.bind(subtle);
subtle.digest = async (algorithm: SubtleCryptoHashAlgorithm | string, data: ArrayBuffer | ArrayBufferView) => {
  const from = sinceArrival();
  const hash = await digest(algorithm, data);
  marks.push(['hash', from, sinceArrival(), data.byteLength]);
  return hash;
};

const verify = subtle.verify.bind(subtle);
subtle.verify = async (...given: Parameters<typeof verify>) => {
  const from = sinceArrival();
  const valid = await verify(...given);
  marks.push(['verify', from, sinceArrival(), 0]);
  return valid;
};

const open = caches.open.bind(caches);
caches.open = async (name) => {
  const cache = await open(name);
  const match = cache.match.bind(cache);
  cache.match = async (...given) => {
    const from = sinceArrival();
    const found = await match(...given);
    marks.push(['found', from, sinceArrival(), Number(found?.headers.get('content-length') ?? 0)]);
    return found;
  };
  return cache;
};

const ready = Object.getOwnPropertyDescriptor(Feed.prototype, 'ready')?.value as Feed['ready'];
Feed.prototype.ready = function (...given) {
  const wait = ready.apply(this, given);
  return wait && wait.then(() => marks.push(['ready', 0, sinceArrival(), 0]));
};

export default {
  async fetch(request: Request, env: object, ctx: ExecutionContext): Promise<Response> {
    arrivedAtMs = performance.now();
    const response = await edge.fetch(request, env, ctx);
    const marked = new Response(response.body, response);
    marked.headers.set('x-bench-marks', JSON.stringify([...marks, ['answer', 0, sinceArrival(), 0]]));
    return marked;
  },
};
