/**
 * The edge's calls to the service: the client JWT as bearer, a deadline on each call, every answer bounded and checked. An
 * answer that does not fit is none.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import * as z from 'zod/mini';
import { botKeys, botNameAnswer } from '../../contract/edge/bot-calls.ts';
import { edgeSession, edgeVersion } from '../../contract/edge/edge-responses.ts';
import type { EdgeVisitor } from '../../contract/edge/edge-api.ts';
import { READS_QUERY } from '../../contract/edge/formats.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import type { ServiceClock } from '../../logsink/service-clock.ts';
import { failed, ok } from '../../result.ts';
import { decodeConfig } from './stored-parts.ts';
import { UNREADABLE, type Asked, type Count, type Upstream, type UpstreamFault } from './upstream.ts';

/** A slower service counts as down. */
const QUICK_TIMEOUT_MS = 500;
/** Of the scheduled run, for which nobody waits: a busy service is not down. */
const PATIENT_TIMEOUT_MS = 10_000;
/** Behind a response, for answers of some hundred kilobytes. */
const CONFIG_TIMEOUT_MS = 2000;
/** A request waits for the ledger's answer: of an agent that signs, or of a visitor whose address family changed. */
const LEDGER_TIMEOUT_MS = 2000;
/** A person waits who has solved a challenge, and would otherwise have to send the form again. */
const FORM_TIMEOUT_MS = 3000;
const LEDGER_ANSWER_MAX_BYTES = 1024;
/** Of a directory or a resolver that the service waits for. */
const PROOF_TIMEOUT_MS = 10_000;
const RULESET_TIMEOUT_MS = 20_000;
/** A million rules are 11 MB. Five times that would endanger an isolate's memory. */
const RULESET_MAX_BYTES = 64 * 1024 * 1024;
const BOT_TABLE_MAX_BYTES = 9 * 1024 * 1024;
/** 10,000 raised sessions and 400 path rules fit twice. */
const ANSWER_MAX_BYTES = 4 * 1024 * 1024;

const NO_BODY = ok(new Uint8Array());

const VERSION_PATH = `/edge/v1/version?bots&${READS_QUERY}`;
const CONFIG_PATH = `/edge/v1/config?${READS_QUERY}`;

export interface ServiceQuestion<Answer> {
  path: string;
  timeoutMs: number;
  maxBytes: number;
  /** What the body of a success says. */
  read: (body: Bytes) => Asked<Answer> | Promise<Asked<Answer>>;
  /** The question passes on what a visitor or the origin sent, so that a refusal can be theirs. */
  isForVisitor?: boolean;
  /** The service answers it without the client JWT, so that an answer says nothing about that. */
  isPublic?: boolean;
}

export interface ServiceClientOptions {
  serviceUrl: string;
  /** A binding; `null`: called by its address. */
  service: { fetch(request: Request): Promise<Response> } | null;
  clientJwt: string;
  count: Count;
  /** Learns the service's time from its answers. */
  clock?: ServiceClock;
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

  async version(isPatient = false) {
    const timeoutMs = isPatient ? PATIENT_TIMEOUT_MS : QUICK_TIMEOUT_MS;
    const version = await this.ask(answerOf(edgeVersion, VERSION_PATH, timeoutMs));
    this.reachable = version.ok;
    return version;
  }

  config() {
    return this.ask({
      path: CONFIG_PATH,
      timeoutMs: CONFIG_TIMEOUT_MS,
      maxBytes: ANSWER_MAX_BYTES,
      read: decodeConfig,
    });
  }

  base(hash: string) {
    return this.ask(fileAt(`/edge/v1/rulesets/${hash}`, RULESET_MAX_BYTES));
  }

  /** Tells the service that it sent a base which cannot be loaded. Without an answer, the next refresh tells it again. */
  async refused(hash: string): Promise<void> {
    const path = `/edge/v1/rulesets/${hash}/refused`;
    await this.ask({ path, timeoutMs: QUICK_TIMEOUT_MS, maxBytes: LEDGER_ANSWER_MAX_BYTES, read: () => ok(true) }, {});
  }

  delta(hash: string, version: number) {
    return this.ask(fileAt(`/edge/v1/rulesets/${hash}/delta/${version}`, RULESET_MAX_BYTES));
  }

  /** The signed bot table. */
  bots(hash: string) {
    return this.ask(fileAt(`/edge/v1/bots/${hash}`, BOT_TABLE_MAX_BYTES));
  }

  /** The keys of an agent. Behind a response: the service may have to fetch them. */
  keys(question: { agent: string; keyid: string }) {
    return this.ask(answerOf(botKeys, '/edge/v1/bot-keys', PROOF_TIMEOUT_MS), question);
  }

  /** Whether the names of an address are those of the bot. Behind a response. */
  name(question: { bot: string; ip: string }) {
    return this.ask(answerOf(botNameAnswer, '/edge/v1/bot-proofs', PROOF_TIMEOUT_MS), question);
  }

  /** Whether nobody used the nonce before. */
  spendNonce(question: { agent: string; keyid: string; nonce: string; expiresAt: number }) {
    return this.ask(ledger('/edge/v1/bot-nonces/spend', 'spent', isBoolean), question);
  }

  /** Whether nobody sent the held submission on before. True once per id. */
  spendSeal(question: { id: string; bornAt: number }) {
    return this.ask(ledger('/edge/v1/seals/spend', 'spent', isBoolean, FORM_TIMEOUT_MS), question);
  }

  /** Whether the network has one more wait in place of a challenge. */
  takeWait(question: { id: string; bornAt: number; ip: string }) {
    return this.ask(ledger('/edge/v1/waits/take', 'taken', isBoolean, FORM_TIMEOUT_MS), question);
  }

  /** The network that a clearance has learned in addition to its own. A service that is away is not asked. */
  async learnNetwork(question: { jti: string; bornAt: number; network: string }): Promise<Asked<string>> {
    if (!this.reachable) return failed({ kind: 'unreachable' });
    return this.ask(ledger('/edge/v1/clearances/learn', 'network', isText), question);
  }

  /** Renews the session behind `jwt`. Where only work would open another one, the answer is no session. */
  session(visitor: EdgeVisitor, jwt: string, timeoutMs: number) {
    return this.ask(answerOf(edgeSession, '/edge/v1/sessions', timeoutMs), { visitor, jwt });
  }

  /** Every call of the service. Without a `question` it is a GET. Never throws. */
  async ask<Answer>(call: ServiceQuestion<Answer>, question?: object): Promise<Asked<Answer>> {
    const { path, timeoutMs, maxBytes, read, isForVisitor = false, isPublic = false } = call;
    try {
      const response = await this.#fetch(path, timeoutMs, question);
      this.#options.clock?.learn(response);
      const { status } = response;
      const body = response.body ? await readBounded(response.body, maxBytes, { timeoutMs }) : NO_BODY;
      if (response.ok) {
        if (!isPublic) this.jwtRefused = false;
        const answer = body.ok ? await read(body.value) : UNREADABLE;
        return answer.ok ? answer : this.#failed(path, answer.error);
      }
      const key = body.ok ? errorKey(status, body.value) : '';
      if (isForVisitor && VISITORS_FAULT.test(key)) return failed({ kind: 'visitor', status, key });
      // A 403 that is not of the service can come from a firewall on the way, which judges what was sent.
      const isOnTheWay = key === '' && (isForVisitor ? status !== 401 : status === 403 && question !== undefined);
      if (isOnTheWay) return this.#failed(path, { kind: 'unreadable' });
      const isOfJwt = !isPublic && (status === 401 || status === 403);
      return this.#failed(path, { kind: 'refused', status }, isOfJwt);
    } catch {
      return this.#failed(path, { kind: 'unreachable' });
    }
  }

  #fetch(path: string, timeoutMs: number, question?: object): Promise<Response> {
    const { serviceUrl, service, clientJwt } = this.#options;
    const authorization = `Bearer ${clientJwt}`;
    const init: RequestInit =
      question === undefined
        ? { headers: { authorization } }
        : {
            method: 'POST',
            headers: { authorization, 'content-type': 'application/json' },
            body: JSON.stringify(question),
          };
    const signal = AbortSignal.timeout(timeoutMs);
    const request = new Request(serviceUrl + path, { ...init, redirect: 'manual', signal });
    return service ? service.fetch(request) : fetch(request);
  }

  #failed(path: string, fault: UpstreamFault, isJwtRefused = false): { ok: false; error: UpstreamFault } {
    this.#options.count(`service_failures{kind="${fault.kind === 'refused' ? `status-${fault.status}` : fault.kind}"}`);
    if (isJwtRefused) {
      if (!this.jwtRefused) console.error(JSON.stringify({ level: 'error', event: 'client-jwt-refused', path }));
      this.jwtRefused = true;
      this.reachable = false;
    }
    return failed(fault);
  }
}

/** A call whose answer has this shape. */
function answerOf<Schema extends z.ZodMiniType>(
  schema: Schema,
  path: string,
  timeoutMs: number,
): ServiceQuestion<z.output<Schema>> {
  const read = (body: Bytes) => {
    const answer = z.safeParse(schema, parseJson(body));
    return answer.success ? ok(answer.data) : UNREADABLE;
  };
  return { path, timeoutMs, maxBytes: ANSWER_MAX_BYTES, read };
}

/** A call for a file. Who opens it checks its signature. */
function fileAt(path: string, maxBytes: number): ServiceQuestion<Bytes> {
  return { path, timeoutMs: RULESET_TIMEOUT_MS, maxBytes, read: (body) => ok(body) };
}

/** Reads a JSON object. `pick`: what it says; `null`: it is not the service's answer, such as one of a proxy on the way. */
export function readObject<Answer>(pick: (answer: Record<string, unknown>) => Answer | null) {
  return (body: Bytes): Asked<Answer> => {
    const answer = parseJson(body);
    const value = isJsonObject(answer) ? pick(answer) : null;
    return value === null ? UNREADABLE : ok(value);
  };
}

/** A question of the service's ledger, which counts for all isolates. A request waits for the answer: one field. */
function ledger<Answer>(
  path: string,
  field: string,
  isAnswer: (value: unknown) => value is Answer,
  timeoutMs = LEDGER_TIMEOUT_MS,
): ServiceQuestion<Answer> {
  const read = readObject(({ [field]: value }) => (isAnswer(value) ? value : null));
  return { path, timeoutMs, maxBytes: LEDGER_ANSWER_MAX_BYTES, read };
}

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Refusals that a visitor can cause: what they sent, where they come from, how often they call. None of them may count as
 * a failure of the service, because the edge's own challenge is easier.
 */
const VISITORS_FAULT =
  /^(?:CAPTCHA\.\w+|API\.(?:INVALID_\w+|MISSING_BODY|PARSE_ERROR|BODY_TOO_LARGE|SITE_KEY_NOT_REGISTERED|UNAUTHORIZED_ORIGIN_URL|INCORRECT_CAPTCHA_TYPE|TOO_MANY_ITEMS|FORBIDDEN|ACCESS_POLICY_BLOCK|RATE_LIMITED|NO_SESSION))$/;

/** The key of an error of the service, else `''`. */
function errorKey(status: number, body: Bytes): string {
  const answer = parseJson(body);
  const error = isJsonObject(answer) ? answer['error'] : null;
  const key = isJsonObject(error) ? error['key'] : null;
  return status >= 400 && status < 500 && typeof key === 'string' ? key : '';
}
