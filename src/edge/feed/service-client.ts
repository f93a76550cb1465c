/**
 * The edge's calls to the service: the client JWT as bearer, a deadline on each call, every answer bounded and checked. An
 * answer that does not fit counts as "service unreachable".
 */
import * as z from 'zod/mini';
import { botKeys } from '../../contract/bots/bot-keys.ts';
import { botProof } from '../../contract/bots/bot-proofs.ts';
import { edgeConfig, edgeSession, edgeVersion } from '../../contract/edge/edge-responses.ts';
import type { EdgeSession, EdgeVisitor } from '../../contract/edge/edge-api.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import { READS_PARAMETER, rulesetFormats } from '../../rules/formats.ts';
import type { Count, Upstream } from './upstream.ts';

/** A slower service counts as down. */
const QUICK_TIMEOUT_MS = 500;
/** Behind a response, for answers of some hundred kilobytes. */
const CONFIG_TIMEOUT_MS = 2000;
/** A request waits for the ledger's answer: of an agent that signs, or of a visitor whose address family changed. */
const LEDGER_TIMEOUT_MS = 2000;
const LEDGER_ANSWER_MAX_BYTES = 1024;
/** Of a directory or a resolver that the service waits for. */
const PROOF_TIMEOUT_MS = 10_000;
const RULESET_TIMEOUT_MS = 20_000;
/** A million rules are 11 MB. Five times that would endanger an isolate's memory. */
const RULESET_MAX_BYTES = 64 * 1024 * 1024;
const BOT_TABLE_MAX_BYTES = 9 * 1024 * 1024;
/** 10,000 raised sessions and 400 path rules fit twice. */
const ANSWER_MAX_BYTES = 4 * 1024 * 1024;

const VERSION_PATH = `/edge/v1/version?bots&${READS_PARAMETER}=${rulesetFormats.join(',')}`;

export interface ServiceClientOptions {
  serviceUrl: string;
  service: Fetcher | null;
  clientJwt: string;
  count: Count;
}

/** A call that a visitor waits for. */
export interface VisitorCall {
  path: string;
  timeoutMs: number;
  maxBytes: number;
  /** Whether the body of a 200 is what was asked for. */
  isAnswer: (body: Record<string, unknown>) => boolean;
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
    const version = await this.#json(edgeVersion, VERSION_PATH, QUICK_TIMEOUT_MS);
    this.reachable = version !== null;
    return version;
  }

  config() {
    return this.#json(edgeConfig, '/edge/v1/config', CONFIG_TIMEOUT_MS);
  }

  base(hash: string) {
    return this.#bytes(`/edge/v1/rulesets/${hash}`, RULESET_TIMEOUT_MS, RULESET_MAX_BYTES);
  }

  async refused(hash: string): Promise<void> {
    try {
      const response = await this.call(`/edge/v1/rulesets/${hash}/refused`, QUICK_TIMEOUT_MS, '{}');
      await response.body?.cancel();
    } catch {
      // The next refresh refuses the file again.
    }
  }

  delta(hash: string, version: number) {
    return this.#bytes(`/edge/v1/rulesets/${hash}/delta/${version}`, RULESET_TIMEOUT_MS, RULESET_MAX_BYTES);
  }

  /** The signed bot table. */
  bots(hash: string) {
    return this.#bytes(`/edge/v1/bots/${hash}`, RULESET_TIMEOUT_MS, BOT_TABLE_MAX_BYTES);
  }

  /** The keys of an agent. Behind a response: the service may have to fetch them. */
  keys(question: { agent: string; keyid: string }) {
    return this.#json(botKeys, '/edge/v1/bot-keys', PROOF_TIMEOUT_MS, JSON.stringify(question));
  }

  /** Whether the names of an address are those of the bot. Behind a response. */
  name(question: { bot: string; ip: string }) {
    return this.#json(botProof, '/edge/v1/bot-proofs', PROOF_TIMEOUT_MS, JSON.stringify(question));
  }

  /** Whether nobody used the nonce before; `false` too where the service does not say. */
  async spend(question: { agent: string; keyid: string; nonce: string; expiresAt: number }): Promise<boolean> {
    const answer = await this.ask(
      {
        path: '/edge/v1/bot-nonces/spend',
        timeoutMs: LEDGER_TIMEOUT_MS,
        maxBytes: LEDGER_ANSWER_MAX_BYTES,
        isAnswer: isJsonObject,
      },
      question,
    );
    return answer?.body['spent'] === true;
  }

  /**
   * The network that a clearance has learned in addition to its own; `null` where the service does not say. A service
   * that does not respond is not asked: the visitor solves another challenge without a wait.
   */
  async learnNetwork(shown: { jti: string; bornAt: number; network: string }): Promise<string | null> {
    if (!this.reachable) return null;
    const call = {
      path: '/edge/v1/clearances/learn',
      timeoutMs: LEDGER_TIMEOUT_MS,
      maxBytes: LEDGER_ANSWER_MAX_BYTES,
      isAnswer: isJsonObject,
    };
    const network = (await this.ask(call, shown))?.body['network'];
    return typeof network === 'string' ? network : null;
  }

  /** Renews the session behind `jwt`. `null` too where only work would open another one. */
  session(visitor: EdgeVisitor, jwt: string, timeoutMs: number): Promise<EdgeSession | null> {
    return this.#json(edgeSession, '/edge/v1/sessions', timeoutMs, JSON.stringify({ visitor, jwt }));
  }

  /**
   * A call on behalf of the visitor: what `isAnswer` accepts, or a refusal that is about the visitor, in the edge's own
   * words. `null`: none in time, none that can be read, or one about the edge itself, such as a refused client JWT.
   * That counts as an unreachable service, and only the operator learns of it.
   */
  async ask({ path, timeoutMs, maxBytes, isAnswer }: VisitorCall, question: object): Promise<ServiceAnswer | null> {
    try {
      const response = await this.call(path, timeoutMs, JSON.stringify(question));
      const { status } = response;
      const bytes = response.body && (await readBounded(response.body, maxBytes, { timeoutMs }));
      const body = bytes?.ok ? parseJson(bytes.value) : null;
      if (status === 200 && isJsonObject(body) && isAnswer(body)) return { status, body };
      const key = errorKey(status, body);
      if (VISITORS_FAULT.test(key)) {
        return { status, body: { error: { code: status, message: 'This call was refused.', key } } };
      }
      // A 403 that is not of the service can come from a firewall on the way, which judges what the visitor sent.
      this.#failed(path, key === '' && status !== 401 ? 'unreadable' : status);
    } catch {
      // Late, unreachable or unreadable: the same for the visitor.
      this.#failed(path, 'unreachable');
    }
    return null;
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

  async #json<Schema extends z.ZodMiniType>(
    schema: Schema,
    path: string,
    timeoutMs: number,
    body?: string,
  ): Promise<z.output<Schema> | null> {
    const bytes = await this.#bytes(path, timeoutMs, ANSWER_MAX_BYTES, body);
    if (bytes === null) return null;
    const read = z.safeParse(schema, parseJson(bytes));
    if (read.success) return read.data;
    this.#failed(path, 'unreadable');
    return null;
  }

  async #bytes(path: string, timeoutMs: number, maxBytes: number, body?: string) {
    try {
      const response = await this.call(path, timeoutMs, body);
      if (response.status === 200 && response.body) {
        this.jwtRefused = false;
        const bytes = await readBounded(response.body, maxBytes);
        if (bytes.ok) return bytes.value;
        this.#failed(path, 'body');
        return null;
      }
      await response.body?.cancel();
      this.#failed(path, response.status);
    } catch {
      this.#failed(path, 'unreachable');
    }
    return null;
  }

  /** `why`: a status, or what is wrong with an answer of 200. */
  #failed(path: string, why: number | string): void {
    this.#options.count(`service_failures{kind="${typeof why === 'number' ? `status-${why}` : why}"}`);
    if (why !== 401 && why !== 403) return;
    if (!this.jwtRefused) console.error(JSON.stringify({ level: 'error', event: 'client-jwt-refused', path }));
    this.jwtRefused = true;
    this.reachable = false;
  }
}

/**
 * Refusals that a visitor can cause: what they sent, where they come from, how often they call. None of them may count as
 * a failure of the service, because the edge's own challenge is easier.
 */
const VISITORS_FAULT =
  /^(?:CAPTCHA\.\w+|API\.(?:INVALID_\w+|MISSING_BODY|PARSE_ERROR|BODY_TOO_LARGE|SITE_KEY_NOT_REGISTERED|UNAUTHORIZED_ORIGIN_URL|INCORRECT_CAPTCHA_TYPE|FORBIDDEN|ACCESS_POLICY_BLOCK|RATE_LIMITED|NO_SESSION))$/;

/** The key of an error of the service, else `''`. */
function errorKey(status: number, body: unknown): string {
  const error = isJsonObject(body) ? body['error'] : null;
  const key = isJsonObject(error) ? error['key'] : null;
  return status >= 400 && status < 500 && typeof key === 'string' ? key : '';
}
