/**
 * `GET /robots.txt`: the origin's file, merged with the bot policy by the service. The origin is asked as for any visitor,
 * once in five minutes for each isolate, host and origin, and its last good file is kept. A crawler reads an error as
 * "take nothing" or as "take everything" (RFC 9309 section 2.3.1), so nothing that the origin does leads to one.
 */
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { ROBOTS_MAX_BYTES } from '../../contract/edge/edge-responses.ts';
import type { RobotsState } from '../../contract/vocabulary.ts';
import { ROBOTS_PATH } from '../../bots/bot-rules.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { JudgedContext } from '../decide/context.ts';
import { readObject, type ServiceQuestion, type ServiceClient } from '../feed/service-client.ts';
import type { Count } from '../feed/upstream.ts';
import { replacedRequest } from '../request/facts.ts';
import { isOwnLoop } from './call-origin.ts';
import type { Origins } from './origins.ts';
import { sendToOrigin } from './send-to-origin.ts';

interface ServedFile {
  text: string;
  /** The origin's own, empty where it says nothing. */
  origin: string;
  configVersion: string;
  /** Epoch milliseconds. */
  freshUntilMs: number;
}
interface OriginFile {
  state: RobotsState;
  text: string;
}
/** The origin did not say. `message`: for the log. */
interface RobotsFault {
  kind: 'unread';
  message: string;
}

/** Neither a page nor something binary is a robots.txt. */
const PAGE: OriginFile = { state: 'page', text: '' };
const FRESH_MS = 300_000;
/** After a failure. Each try costs the crawler that waits for it up to the timeout. */
const RETRY_MS = 30_000;
const TIMEOUT_MS = 5000;
const SERVICE_TIMEOUT_MS = 2000;
/** JSON writes a control character in six bytes. */
const ANSWER_MAX_BYTES = 6 * ROBOTS_MAX_BYTES + 1024;
/** Visitors choose host names where an instance does not list them. */
const HOSTS_MAX = 16;

/** Whether the gate itself answers. In monitor mode the origin's file stays as it is. */
export function isForRobotsFile({ facts, config, verdict }: JudgedContext): boolean {
  const { method } = facts.request;
  return (
    facts.target.received === ROBOTS_PATH &&
    (method === 'GET' || method === 'HEAD') &&
    config.policy.botPolicy.robots.serve &&
    verdict.decision === 'allow' &&
    !isOwnLoop(facts.headers, config)
  );
}

const MERGE: ServiceQuestion<string> = {
  path: '/edge/v1/robots',
  timeoutMs: SERVICE_TIMEOUT_MS,
  maxBytes: ANSWER_MAX_BYTES,
  isForVisitor: true,
  read: readObject(({ text }) => (typeof text === 'string' ? text : null)),
};

export class RobotsFiles {
  readonly #origins: Origins;
  readonly #service: ServiceClient;
  readonly #count: Count;
  readonly #files = new BoundedMap<ServedFile>(HOSTS_MAX);

  constructor(origins: Origins, service: ServiceClient, count: Count) {
    this.#origins = origins;
    this.#service = service;
    this.#count = count;
  }

  /** Never fails. Without the service it is the last merged file, and without one the origin's. */
  async textFor(context: JudgedContext): Promise<string> {
    const { configVersion } = context.config;
    const { target, nowMs } = context.facts;
    const key = context.origin === null ? target.host : `${target.host} ${context.origin}`;
    const known = this.#files.get(key);
    if (known && known.configVersion === configVersion && nowMs < known.freshUntilMs) return known.text;
    // One request asks anew. Those beside it get what is known: an origin can take seconds to answer.
    if (known) this.#files.set(key, { ...known, configVersion, freshUntilMs: nowMs + RETRY_MS });
    const read = await this.#readFrom(context);
    const origin = read.ok ? read.value.text : (known?.origin ?? '');
    const file = { host: target.host, state: read.ok ? read.value.state : ('error' as const), text: origin };
    const merged = await this.#service.ask(MERGE, file);
    const text = merged.ok ? merged.value : (known?.text ?? origin);
    const freshUntilMs = nowMs + (read.ok && merged.ok ? FRESH_MS : RETRY_MS);
    this.#files.set(key, { text, origin, configVersion, freshUntilMs });
    return text;
  }

  async #readFrom(context: JudgedContext): Promise<Result<OriginFile, RobotsFault>> {
    const { facts, config } = context;
    const { target: origin } = this.#origins.of(context);
    if (!origin.ok) return this.#failed(origin.error.why);
    const headers = { accept: 'text/plain', 'user-agent': 'Gatehouse' };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const request = new Request(facts.request.url, { headers, redirect: 'manual', signal });
    const asked = { decision: 'allow', hasSolved: false, preflight: false, body: null, signal };
    try {
      const own = replacedRequest(facts, request, facts.target);
      const response = await sendToOrigin(own, origin.value, config, asked);
      const { status } = response;
      const isFile = status >= 200 && status < 300;
      if (!isFile || /html/i.test(response.headers.get('content-type') ?? '')) {
        void response.body?.cancel();
        if (isFile) return ok(PAGE);
        return status >= 400 && status < 500 && status !== 429
          ? ok({ state: 'none', text: '' })
          : this.#failed(`status ${status}`);
      }
      const file = await beginning(response);
      return ok(file.text.includes('\0') || /^\s*</.test(file.text) ? PAGE : file);
    } catch (error) {
      return this.#failed(String(error));
    }
  }

  #failed(message: string): { ok: false; error: RobotsFault } {
    this.#count('robots_failures');
    console.error(JSON.stringify({ level: 'error', event: 'robots-unread', message }));
    return failed({ kind: 'unread', message });
  }
}

/** As much as a crawler reads, to the last whole line. */
async function beginning({ body }: Response): Promise<OriginFile> {
  const decoder = new TextDecoder();
  let text = '';
  let left = ROBOTS_MAX_BYTES;
  // Leaving the loop ends the response.
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk.subarray(0, left), { stream: true });
    left -= chunk.length;
    if (left < 0)
      return { state: 'cut', text: text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1) };
  }
  return { state: 'file', text: text + decoder.decode() };
}
