/**
 * Which limits a logged request would have asked under a policy set, by which keys, and whether it would have added to
 * them. The log has no headers, cookies, queries and user names, and of the response only the status. What depends on
 * these is unknown. Pure.
 */
import { hostName } from '../../../../address/host-name.ts';
import { HmacSha256 } from '../../../../bytes/hmac-sha256.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { LimitForm } from '../../../../contract/management/policy-set/policy-set-form.ts';
import type { PolicyAction } from '../../../../contract/management/policy-set/policy.ts';
import type { VerdictSource } from '../../../../contract/vocabulary.ts';
import { limitKeys, pathKey, type KeySource, type LimitKeys } from '../../../../limits/limit-keys.ts';
import type { ReplayedKey, ReplayedUse } from '../../../../limits/replay.ts';
import { pathsOf } from '../policies/policy-requests.ts';
import { replay, type ReplayGate } from '../replay/gate-replay.ts';

/** The keys never leave the preview, so their MAC needs no secret. */
const mac = new HmacSha256(new Uint8Array(32));
const sign = (text: string): Uint8Array => mac.sign(text);

/** What the log does not hold of a limit: key parts, and what it counts. */
export function unloggedParts({ key, on, loginFailed }: LimitForm): string[] {
  const parts = key.filter(isUnlogged);
  if (on === 'challengeFailed') parts.push('challengeFailed');
  if (on === 'loginFailed' && loginFailed?.header !== undefined) parts.push('loginFailed.header');
  return parts;
}

function isUnlogged(part: string): boolean {
  return part === 'user' || part.startsWith('header:') || part.startsWith('cookie:');
}

export interface LoggedUses {
  uses: ReplayedUse[];
  /** Limits that policies ask, of a request that something else stops before it reaches them. */
  stopped: { limit: number; by: VerdictSource }[];
}

const NO_USES: LoggedUses = { uses: [], stopped: [] };

/** `gate`: with the proposed policies. */
export function loggedUses(record: VerdictRecord, gate: ReplayGate, limits: readonly LimitForm[]): LoggedUses {
  const replayed = replay(record, gate, 'left out');
  if (replayed.liftsLimits) return NO_USES;
  const { branches, limits: asked, unsure } = replayed;
  const placeOf = (name: string): number => limits.findIndex((limit) => limit.name === name);
  const reaches = branches && new Set(branches.map(({ reachesLimits }) => reachesLimits));
  if (branches !== null && !reaches?.has(true)) {
    const stopped = asked.map(placeOf).filter((limit) => limit >= 0);
    return { uses: [], stopped: stopped.map((limit) => ({ limit, by: branches[0].source })) };
  }
  const unsureActions = unsure.map((name) => gate.actions.get(name));
  const isOpen = reaches?.size !== 1 || unsureActions.some(endsTheSearch);
  const maybeAsked = unsureActions.flatMap((action) => (action?.action === 'limit' ? [action.limit] : []));
  const uses: ReplayedUse[] = [];
  for (const name of new Set([...asked, ...maybeAsked])) {
    const place = placeOf(name);
    const limit = limits[place];
    if (limit === undefined) continue;
    const isAsked = !isOpen && asked.includes(name);
    uses.push({ limit: place, isAsked, ...keysOf(limit, record), adds: addsTo(limit, record) });
  }
  return { uses, stopped: [] };
}

/** Policies that come after it ask no limit where it applies. */
function endsTheSearch(action: PolicyAction | undefined): boolean {
  return action !== undefined && ['allow', 'challenge', 'block', 'redirect'].includes(action.action);
}

/** A key is known if it is the same whatever the unlogged parts were. */
function keysOf(limit: LimitForm, record: VerdictRecord): Pick<ReplayedUse, 'known' | 'possible'> {
  const possible = flat(limitKeys(limit, sourceOf(record, 'a'), sign));
  if (!limit.key.some(isUnlogged)) return { known: possible, possible };
  const others = new Set(flat(limitKeys(limit, sourceOf(record, 'b'), sign)).map(({ key }) => key));
  return { known: possible.filter(({ key }) => others.has(key)), possible };
}

function flat({ own, wider }: LimitKeys): ReplayedKey[] {
  return [
    ...own.map((key) => ({ key, times: 1, isOwn: true })),
    ...wider.map(({ key, times }) => ({ key, times, isOwn: false })),
  ];
}

function sourceOf(record: VerdictRecord, unlogged: string): KeySource {
  return {
    ip: record.ip,
    asn: record.asn,
    country: record.country,
    ja4: record.ja4,
    session: record.jti,
    bot: record.bot?.id ?? null,
    path: pathKey(pathsOf(record.request_path) ?? [record.request_path]),
    host: hostName(record.host),
    header: () => unlogged,
    cookie: () => unlogged,
    users: [unlogged],
  };
}

function addsTo({ on, loginFailed }: LimitForm, { origin_ms: originMs, status }: VerdictRecord): ReplayedUse['adds'] {
  if (on === 'request') return 'yes';
  if (on === 'challengeFailed') return 'elsewhere';
  // The origin was not asked, or the visitor left before it responded.
  if (originMs === null || status === 0) return 'unknown';
  if (on === 'loginFailed') {
    if (loginFailed?.status?.includes(status)) return 'yes';
    return loginFailed?.header === undefined ? 'no' : 'unknown';
  }
  const wanted = on.slice('status:'.length);
  const isCounted = wanted.endsWith('xx') ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted);
  return isCounted ? 'yes' : 'no';
}
