/** An instance's limits made ready for requests: how their keys are counted, and which response counts. */
import type { HmacSha256 } from '../../bytes/hmac-sha256.ts';
import type { LimitForm } from '../../contract/management/policy-set/policy-set-form.ts';
import type { Decision } from '../../contract/vocabulary.ts';
import type { Meter } from '../../limits/sliding-log.ts';

/** An isolate lets half of a limit through before the ledger has heard of it, and a few uses of a small limit. */
const UNCONFIRMED_SHARE = 2;
const UNCONFIRMED_MIN = 10;
/** The service takes no larger one. Of a bucket of a day it is still a whole number. */
const COUNT_MAX = 10_000_000;

/** How a key is counted. */
export interface CountedMeter extends Meter {
  isBucket: boolean;
  /** Uses that one isolate lets through before the ledger has heard of them. */
  leash: number;
  /** Uses of a window from which on an isolate reports a key, and how many make a report. Absent: each of them. */
  reported?: { from: number; every: number };
}

export interface CompiledLimit extends LimitForm {
  verdict: Exclude<Decision, 'allow'>;
  /** Of the key itself, or of a larger network with so many times the count. */
  meter: (times: number) => CountedMeter;
  /** Whether a response of the origin counts; `null` where requests or challenges do. */
  isCounted: ((response: Response) => boolean) | null;
}

export interface CompiledLimits {
  byName: ReadonlyMap<string, CompiledLimit>;
  /** Those that count challenges that failed. */
  ofChallenges: readonly CompiledLimit[];
  sign: (text: string) => Uint8Array;
}

export function compileLimits(limits: readonly LimitForm[], mac: HmacSha256): CompiledLimits {
  const compiled = limits.map(compiledLimit);
  return {
    byName: new Map(compiled.map((limit) => [limit.name, limit])),
    ofChallenges: compiled.filter(({ on }) => on === 'challengeFailed'),
    sign: (text) => mac.sign(text),
  };
}

function compiledLimit(limit: LimitForm): CompiledLimit {
  const { then, windowSeconds, algorithm } = limit;
  const meters = new Map<number, CountedMeter>();
  const meter = (times: number): CountedMeter => {
    let made = meters.get(times);
    if (made === undefined) {
      const count = Math.min(limit.count * times, COUNT_MAX);
      const leash = Math.max(Math.ceil(count / UNCONFIRMED_SHARE), Math.min(count, UNCONFIRMED_MIN));
      made = { count, windowMs: windowSeconds * 1000, isBucket: algorithm === 'bucket', leash };
      meters.set(times, made);
    }
    return made;
  };
  return { ...limit, verdict: then === 'challenge' ? 'challenge' : 'block', meter, isCounted: countedResponse(limit) };
}

function countedResponse({ on, loginFailed }: LimitForm): CompiledLimit['isCounted'] {
  if (on.startsWith('status:')) {
    const status = on.slice('status:'.length);
    return status.endsWith('xx')
      ? (response) => Math.floor(response.status / 100) === Number(status[0])
      : (response) => response.status === Number(status);
  }
  if (on !== 'loginFailed' || !loginFailed) return null;
  const { status: statuses = [], header } = loginFailed;
  return ({ status, headers }) => {
    if (statuses.includes(status)) return true;
    const value = header ? headers.get(header.name) : null;
    return value !== null && (header?.value === undefined || value === header.value);
  };
}
