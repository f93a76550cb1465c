/**
 * The edge's calls to the service: the client JWT as bearer, a deadline on each call, every answer bounded and checked. An
 * answer that does not fit counts as "service unreachable".
 */
import { edgeConfig, edgeSession, edgeVersion } from '../../contract/edge/edge-responses.ts';
import type { EdgeSession, EdgeVisitor } from '../../contract/edge/edge-api.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import type { Count, Upstream } from './upstream.ts';

/** A slower service counts as down. */
const QUICK_TIMEOUT_MS = 500;
/** Behind a response, for answers of some hundred kilobytes. */
const CONFIG_TIMEOUT_MS = 2000;
const RULESET_TIMEOUT_MS = 20_000;
/** A million rules are 14 MB. Four times that would endanger an isolate's memory. */
const RULESET_MAX_BYTES = 64 * 1024 * 1024;
/** 10,000 raised sessions and 400 path rules fit twice. */
const ANSWER_MAX_BYTES = 4 * 1024 * 1024;

export interface ServiceClientOptions {
  serviceUrl: string;
  service: Fetcher | null;
  clientJwt: string;
  count: Count;
}

export interface ServiceAnswer {
  status: number;
  body: Record<string, unknown>;
}

export class ServiceClient implements Upstream {
  readonly #options: ServiceClientOptions;
  /** The service refused the client JWT. Shown at the health endpoint. */
  jwtRefused = false;
  /** Whether the service responded to the feed's last check. */
  reachable = true;

  constructor(options: ServiceClientOptions) {
    this.#options = options;
  }

  async version() {
    const answer = await this.#json('/edge/v1/version', QUICK_TIMEOUT_MS);
    const version = checked(edgeVersion.safeParse(answer));
    this.reachable = version !== null;
    return version;
  }

  async config() {
    const answer = await this.#json('/edge/v1/config', CONFIG_TIMEOUT_MS);
    return checked(edgeConfig.safeParse(answer));
  }

  base(hash: string) {
    return this.#bytes(`/edge/v1/rulesets/${hash}`, RULESET_TIMEOUT_MS, RULESET_MAX_BYTES);
  }

  delta(hash: string, version: number) {
    return this.#bytes(`/edge/v1/rulesets/${hash}/delta/${version}`, RULESET_TIMEOUT_MS, RULESET_MAX_BYTES);
  }

  /** Renews the session behind `jwt`. `null` too where only work would open another one. */
  async session(visitor: EdgeVisitor, jwt: string, timeoutMs: number): Promise<EdgeSession | null> {
    const body = JSON.stringify({ visitor, jwt });
    return checked(edgeSession.safeParse(await this.#json('/edge/v1/sessions', timeoutMs, body)));
  }

  /**
   * A call whose answer is passed on to the visitor, whatever it says. `null`: none in time, none that can be read, or
   * one about the edge itself, whose client JWT the service refuses.
   */
  async ask(path: string, timeoutMs: number, question: object, maxBytes: number): Promise<ServiceAnswer | null> {
    try {
      const response = await this.call(path, timeoutMs, JSON.stringify(question));
      const bytes = response.body && (await readBounded(response.body, maxBytes));
      const body = bytes?.ok ? parseJson(bytes.value) : null;
      const { status } = response;
      return isJsonObject(body) && status < 500 && status !== 401 ? { status, body } : null;
    } catch {
      // Late, unreachable or unreadable: the same for the visitor.
      return null;
    }
  }

  /** The raw call. Throws when no response comes in time. */
  call(path: string, timeoutMs: number, body?: string): Promise<Response> {
    const { serviceUrl, service, clientJwt } = this.#options;
    const request = new Request(serviceUrl + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${clientJwt}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return service ? service.fetch(request) : fetch(request);
  }

  async #json(path: string, timeoutMs: number, body?: string): Promise<unknown> {
    const bytes = await this.#bytes(path, timeoutMs, ANSWER_MAX_BYTES, body);
    const answer = parseJson(bytes);
    if (bytes && answer === null) this.#options.count('service_failures{kind="unreadable"}');
    return answer;
  }

  async #bytes(path: string, timeoutMs: number, maxBytes: number, body?: string) {
    try {
      const response = await this.call(path, timeoutMs, body);
      if (response.status === 200 && response.body) {
        this.jwtRefused = false;
        const bytes = await readBounded(response.body, maxBytes);
        if (bytes.ok) return bytes.value;
        this.#options.count('service_failures{kind="body"}');
        return null;
      }
      await response.body?.cancel();
      if (response.status === 401 || response.status === 403) {
        if (!this.jwtRefused) console.error(JSON.stringify({ level: 'error', event: 'client-jwt-refused', path }));
        this.jwtRefused = true;
      }
      this.#options.count(`service_failures{kind="status-${response.status}"}`);
      return null;
    } catch {
      this.#options.count('service_failures{kind="unreachable"}');
      return null;
    }
  }
}

function checked<T>(result: { success: true; data: T } | { success: false }): T | null {
  return result.success ? result.data : null;
}
