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
import { limitKeys, pathKey, type KeySource, type LimitKeys } from '../../../../limits/limit-keys.ts';
import type { ReplayedKey, ReplayedUse } from '../../../../limits/replay.ts';
import { liftedInputs, type DecideInputs } from '../../../../rules/decision-table.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import { pathsOf } from '../policies/policy-requests.ts';
import { policyWhatIf, type ProposedSet } from '../policies/policy-what-if.ts';

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

/** `recorded`: what the table decided from. */
export function loggedUses(
  record: VerdictRecord,
  proposed: ProposedSet,
  limits: readonly LimitForm[],
  instance: Pick<StoredInstance, 'pathRules'>,
  recorded: DecideInputs,
): ReplayedUse[] {
  // What a limit said then is not asked: the proposed ones stand in its place.
  const inputs = { ...recorded, limit: null };
  const refusing = { ...inputs, limit: { verdict: 'block', name: '' } as const };
  if (liftedInputs(refusing).includes('limit')) return [];
  const { after, limits: asked, unsure } = policyWhatIf(record, proposed, instance, inputs);
  // Limits are asked last: what something else refuses or challenges does not reach them.
  if (!after.includes('allow')) return [];
  const unsureActions = unsure.map((name) => proposed.actions.get(name));
  const isOpen = after.length > 1 || unsureActions.some(endsTheSearch);
  const maybeAsked = unsureActions.flatMap((action) => (action?.action === 'limit' ? [action.limit] : []));
  const uses: ReplayedUse[] = [];
  for (const name of new Set([...asked, ...maybeAsked])) {
    const place = limits.findIndex((limit) => limit.name === name);
    const limit = limits[place];
    if (limit === undefined) continue;
    const isAsked = !isOpen && asked.includes(name);
    uses.push({ limit: place, isAsked, ...keysOf(limit, record), adds: addsTo(limit, record) });
  }
  return uses;
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
