/**
 * What the challenge of a session carries: the work, and who it was issued for. Its seal has a purpose of its own, so it
 * never counts as the challenge of a captcha or a clearance, nor one of those as this. It is bound to one instance, one
 * visitor (network and user agent) and one host, so that solving it elsewhere, or for somebody else, opens nothing.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import { jsonField, numberField, readJson, readNumber, readText, textField } from './field-encoding.ts';
import type { Keyring } from './keyring.ts';
import { openAnswered, type OpenedTask, sealAnswered } from './sealed-answer.ts';
import type { ProbeKey } from '../../risk/probes/ask-probes.ts';
import { type ChallengeParams, challengeParams } from './sealed-challenge.ts';

const sessionLanes = ['rsw', 'sha256'] as const;
/** Waiting is no work, and a session opens before there is anything to look at. */
export type SessionLane = (typeof sessionLanes)[number];

export interface SealedSession {
  /** The id of the session that the challenge opens. */
  jti: string;
  instanceId: string;
  /** `visitorBinding` of the visitor that it was issued for. */
  binding: string;
  host: string;
  lane: SessionLane;
  /** Epoch milliseconds. */
  issuedAt: number;
  expiresAt: number;
  params: ChallengeParams;
  /** What judging the answers about the browser needs; `null` where nothing was asked. */
  probes: ProbeKey | null;
}

const FIELDS = 9;

/** `answer`: the canonical bytes of the right answer; `null` where judging is not a comparison. */
export function sealSession(keyring: Keyring, session: SealedSession, answer: Uint8Array | null): Promise<string> {
  return sealAnswered(keyring, 'session', fieldsOf(session), answer, session.issuedAt);
}

/** `null`: not sealed by this deployment, changed, or from the future. The caller checks expiry and whose it is. */
export function openSealedSession(
  keyring: Keyring,
  text: string,
  nowMs: number,
): Promise<OpenedTask<SealedSession> | null> {
  return openAnswered(keyring, 'session', text, nowMs, { count: FIELDS, read: sessionOf });
}

function fieldsOf({
  jti,
  instanceId,
  binding,
  host,
  lane,
  issuedAt,
  expiresAt,
  params,
  probes,
}: SealedSession): Bytes[] {
  return [
    textField(jti),
    textField(instanceId),
    textField(binding),
    textField(host),
    textField(lane),
    numberField(issuedAt),
    numberField(expiresAt),
    jsonField(params),
    jsonField(probes),
  ];
}

function sessionOf(fields: readonly Bytes[]): SealedSession | null {
  const [jti, instanceId, binding, host, laneText] = fields.slice(0, 5).map(readText);
  const [issuedAt, expiresAt] = fields.slice(5, 7).map(readNumber);
  const lane = sessionLanes.find((known) => known === laneText);
  const params = challengeParams.safeParse(readJson(fields[7]!));
  if (jti == null || instanceId == null || binding == null || host == null || issuedAt == null || expiresAt == null)
    return null;
  if (lane === undefined || !params.success) return null;
  // The seal is this deployment's own, and a release that seals something else has another number of fields.
  const probes = readJson(fields[8]!) as ProbeKey | null;
  return { jti, instanceId, binding, host, lane, issuedAt, expiresAt, params: params.data, probes };
}
