/**
 * The client of `/siteverify` that the edge uses, for this service or any other that keeps the
 * interface document. It never throws and never guesses: an answer that is late, unparsable or of
 * another shape is a fault, and what a fault means is the caller's failure policy (design 8).
 */
import { siteverifyAnswer } from '../contract/captcha/siteverify-answer.ts';
import type { SiteverifyAnswer } from '../contract/captcha/siteverify-answer.ts';

export interface VerifyTokenOptions {
  /** Whole address of the endpoint, such as `https://service.example/siteverify`. */
  url: string;
  secret: string;
  token: string;
  ip?: string | null;
  action?: string;
  hostname?: string;
  level?: number;
  /** Left out towards a service that knows only the interface document's members. */
  audience?: 'site' | 'edge';
  idempotencyKey?: string;
  timeoutMs: number;
  fetch(request: Request): Promise<Response>;
}

/**
 * `refused`: the service does not accept the question (wrong secret, bad body). `unreachable`: no
 * answer in time or a server error. `nonsense`: an answer nobody can read.
 */
export type VerifyFault = 'refused' | 'unreachable' | 'nonsense';
export type VerifyTokenResult = ({ ok: true } & SiteverifyAnswer) | { ok: false; fault: VerifyFault };

/** An answer is some hundred bytes; whatever is longer is not one. */
const ANSWER_MAX_CHARS = 16_384;

export async function verifyToken(options: VerifyTokenOptions): Promise<VerifyTokenResult> {
  let response: Response;
  let text: string | null;
  try {
    response = await options.fetch(
      new Request(options.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(questionOf(options)),
        redirect: 'manual',
        signal: AbortSignal.timeout(options.timeoutMs),
      }),
    );
    text = await boundedText(response);
  } catch {
    return { ok: false, fault: 'unreachable' };
  }
  if (response.status >= 500 || response.status === 429) return { ok: false, fault: 'unreachable' };
  if (response.status !== 200) return { ok: false, fault: 'refused' };
  if (text === null) return { ok: false, fault: 'nonsense' };
  try {
    const parsed = siteverifyAnswer.safeParse(JSON.parse(text));
    return parsed.success ? { ok: true, ...parsed.data } : { ok: false, fault: 'nonsense' };
  } catch {
    return { ok: false, fault: 'nonsense' };
  }
}

/** `null`: longer than any answer. Read no further than that: the rest could be without end. */
async function boundedText({ body }: Response): Promise<string | null> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > ANSWER_MAX_CHARS) return null;
  }
  return text + decoder.decode();
}

function questionOf(options: VerifyTokenOptions): Record<string, unknown> {
  const { secret, token, ip, action, hostname, level, audience, idempotencyKey } = options;
  return {
    secret,
    token,
    ...(ip == null ? {} : { ip }),
    ...(action === undefined ? {} : { action }),
    ...(hostname === undefined ? {} : { hostname }),
    ...(level === undefined ? {} : { level }),
    ...(audience === undefined ? {} : { audience }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
}
