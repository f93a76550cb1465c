/** Calls the origin for a `forward` step, at most once, and hands its response on with the edge's headers. */
import { header } from '../../contract/edge/headers.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { HeldReturn } from '../decide/context.ts';
import type { OriginTarget } from '../environment.ts';
import type { Count } from '../feed/upstream.ts';
import { replacedRequest, type RequestFacts } from '../request/facts.ts';
import { clearanceCookie } from '../session/clearances.ts';
import { pageLoadNonce } from '../session/page-load.ts';
import type { Forward } from '../step/step.ts';
import { annotated, sendToOrigin } from './send-to-origin.ts';
import { injectProtectScript, isPage, mayBePartOfPage, type Obstacles } from './inject.ts';
import type { Origins } from './origins.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { HeaderFacts } from '../request/header-facts.ts';

/** Loop Detected (RFC 5842). */
const LOOP_STATUS = 508;

export interface OriginFault {
  /** `loop`: the request came out of this gate already. `already-sent`: its seal was spent before. */
  kind: 'loop' | 'already-sent' | 'unreachable';
}

export interface OriginResponse {
  response: Response;
  originMs: number;
  origin: OriginTarget;
}

/** `spend`: whether a held submission may be sent, which is true once. */
export async function callOrigin(
  { context, tokenVerified, body }: Forward,
  origins: Origins,
  count: Count,
  spend: (held: HeldReturn) => Promise<boolean>,
): Promise<Result<OriginResponse, OriginFault>> {
  const { facts, config, verdict, clearance, held } = context;
  if (config && isOwnLoop(facts.headers, config)) {
    count('origin_loops');
    return failed({ kind: 'loop' });
  }
  const chosen = origins.of(context);
  const { target } = chosen;
  if (held && target.ok && !(await spend(held))) return failed({ kind: 'already-sent' });
  const calledAtMs = Date.now();
  try {
    if (!target.ok) throw new Error(target.error.why);
    const origin = target.value;
    const send = (asked: RequestFacts) =>
      sendToOrigin(asked, origin, config, {
        decision: verdict.decision,
        hasSolved: tokenVerified === true || (clearance !== null && !clearance.isAged),
        preflight: verdict.source === 'preflight',
        body,
      });
    const sent = await send(facts);
    const isPart = config?.policy.autoInject === true && mayBePartOfPage(sent, facts.headers);
    const response = isPart ? await pageInstead(sent, () => send(withoutRange(facts))) : sent;
    // The response to a loop is the gate's own.
    const isLoop = response.status === LOOP_STATUS && response.headers.has(header.requestId);
    origins.called(chosen, isLoop ? null : response.status);
    return ok({ response, originMs: Date.now() - calledAtMs, origin });
  } catch (error) {
    // The runtime reports a visitor who leaves during an upload like an origin that hangs up. Nobody may raise an alarm
    // so, and an origin that is down fails for requests without a body too.
    const isUpload = target.ok && body === null && held === null && facts.request.body !== null;
    if (!isUpload) origins.called(chosen, null);
    count(isUpload ? 'uploads_broken' : 'origin_failures');
    const { requestId } = facts;
    const event = isUpload ? 'upload-broken' : 'origin-unreachable';
    const { name } = chosen;
    console.error(JSON.stringify({ level: 'error', event, requestId, origin: name, message: String(error) }));
    return failed({ kind: 'unreachable' });
  }
}

/** The whole page that `part` is of, and `part` itself where that is no page with the script. */
async function pageInstead(part: Response, askForWhole: () => Promise<Response>): Promise<Response> {
  const whole = await askForWhole();
  const [kept, dropped] = isPage(whole) ? [whole, part] : [part, whole];
  void dropped.body?.cancel();
  return kept;
}

function withoutRange(facts: RequestFacts): RequestFacts {
  const headers = new Headers(facts.request.headers);
  for (const name of ['range', 'if-range']) headers.delete(name);
  return replacedRequest(facts, new Request(facts.request, { headers }), facts.target);
}

/** The origin's response as the visitor gets it. */
export async function handedOn(
  { context }: Forward,
  { response, origin }: OriginResponse,
  count: Count,
  obstacles: Obstacles,
): Promise<Response> {
  const { config, effects, facts, verdict } = context;
  const learned = config && effects.learned && (await clearanceCookie(effects.learned, config, facts.nowMs));
  const shown = learned ? { ...context, cookies: [...context.cookies, learned] } : context;
  const handed = annotated(response, shown, origin);
  if (config?.policy.autoInject !== true) return handed;
  return injectProtectScript(handed, facts, count, obstacles, () =>
    pageLoadNonce(facts, config, verdict.sessionStatus),
  );
}

/**
 * Loop detection: a request that already bears a signature under this instance's key id came out of this gate, so
 * `ORIGIN_URL` leads back to it. Only the key id is compared: visitors who forge it get an error for themselves alone.
 */
export function isOwnLoop({ signature }: Pick<HeaderFacts, 'signature'>, config: CompiledConfig): boolean {
  return signature !== null && signature.includes(`,kid=${config.keys.current.kid},`);
}
