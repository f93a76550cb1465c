/** The edge's Hono app and its Worker in this process, with rules that are loaded, an origin of the test, and records that are kept. */
import { vi } from 'vitest';
import type { VerdictRecord } from '../../../src/contract/edge/verdict-record.ts';
import { edgeApp, edgeWorker } from '../../../src/edge/app.ts';
import type { Feed } from '../../../src/edge/feed/feed.ts';
import { type EdgeMode, isolateOf } from '../../../src/edge/isolate/isolate.ts';
import { englishPages } from '../../../src/locales/english-pages.generated.ts';
import { VerdictBatcher } from '../../../src/logsink/verdict-batcher.ts';
import { testNow } from '../../support/clock.ts';

const mode: EdgeMode = {
  rulesSource: 'service',
  otherConfig: 'src/edge/wrangler.any-service.toml',
  languages: { en: englishPages },
  files: {},
  upstream: ({ service }) => service,
  keepLastKnownGood: () => Promise.resolve([]),
};
const app = edgeApp(mode);
const worker = edgeWorker(mode);
const claims = { sub: 'inst_1', iat: 1_700_000_000, exp: 1_900_000_000 };
const CLIENT_JWT = ['e30', Buffer.from(JSON.stringify(claims)).toString('base64url'), 'x'].join('.');

export interface EdgeState {
  /** `null` parts were never loaded. */
  state: object;
  origin?: (request: Request) => Response | Promise<Response>;
  /** Its answer to every call, or what answers one by its body. Without it, the service is away. */
  service?: object | ((body: unknown) => Response);
  env?: Record<string, string>;
}

/** An isolate of its own for each call. */
export function edgeWith({ state, origin = () => new Response('ok'), service, env = {} }: EdgeState) {
  vi.stubGlobal('Cloudflare', { compatibilityFlags: {} });
  const records: VerdictRecord[] = [];
  vi.spyOn(VerdictBatcher.prototype, 'add').mockImplementation((record) => void records.push(record));
  const asked = vi.fn(async (request: Request) => origin(request));
  const bindings = {
    SERVICE_URL: 'https://service.test',
    SERVICE: {
      async fetch(request: Request) {
        if (!service) throw new Error('The service is away.');
        return typeof service === 'function' ? service(await request.json()) : Response.json(service);
      },
    },
    ORIGIN: { fetch: asked },
    CLIENT_JWT,
    ...env,
  };
  const reading = isolateOf(bindings, mode);
  if (!reading.ok) throw new Error(reading.error.join('; '));
  const isolate = reading.value;
  isolate.feed.state = state as Feed['state'];
  isolate.feed.attemptedAtMs = testNow();
  const counted: string[] = [];
  isolate.count = (name) => void counted.push(name);
  const work: Promise<unknown>[] = [];
  const execution = {
    waitUntil: (one: Promise<unknown>) => void work.push(one),
    passThroughOnException: () => {},
    props: {},
  };
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    Promise.resolve(app.request(`https://site.test${path}`, init, bindings, execution as never));
  const fetched = (asking: Request): Promise<Response> => worker.fetch(asking, bindings, execution as never);
  return { request, fetched, isolate, records, counted, origin: asked, work };
}
