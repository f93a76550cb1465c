/**
 * A captcha from issue to verification as one record, the second stream of the log. Challenges are stateless, so the
 * facts arrive in up to three events, in any order and possibly twice. Merging events is commutative and idempotent,
 * and its result is the record.
 */

export const captchaRecordTypes = ['pow', 'image', 'puzzle', 'blocked'] as const;
/** `blocked`: the visitor was blocked before a captcha was chosen. */
export type CaptchaRecordType = (typeof captchaRecordTypes)[number];
/** In the order of the log's outcomes 0, 1 and 2. */
export const captchaStatuses = ['Approved', 'Pending', 'Disapproved'] as const;
export type CaptchaStatus = (typeof captchaStatuses)[number];

/** Fields that every event of a captcha has. */
export interface CaptchaIdentity {
  /** 32 hex digits; challenge, token and record share it. */
  jti: string;
  account_id: string;
  site_key: string;
  /** When the jti was first issued; epoch milliseconds. The same in every event. */
  timestamp: number;
  captcha_type: CaptchaRecordType;
}

/** Known when the challenge is issued or refused. */
export interface CaptchaFacts {
  ip: string | null;
  asn: number | null;
  country: string | null;
  ja4: string | null;
  user_agent: string;
  device_type: string;
  ip_category: readonly string[];
  host: string | null;
  action: string | null;
  lane: string | null;
  user_account: string | null;
  /** jti of the visitor's Protect session. */
  session: string | null;
  web_view: boolean | null;
  iframe: boolean | null;
  /** 0 to 1. Above `threshold` a harder captcha is chosen. */
  score: number | null;
  threshold: number | null;
  detectors: readonly string[];
  selection_reason: string | null;
  /** `userScopeHash` of the access control rule that matched. */
  access_rule: string | null;
  policy_type: 'block' | 'restrict' | null;
}

export type CaptchaEvent =
  | (CaptchaIdentity & { event: 'issued'; facts: CaptchaFacts })
  | (CaptchaIdentity & { event: 'blocked'; facts: CaptchaFacts; reason: string })
  | (CaptchaIdentity & {
      event: 'submitted';
      at: number;
      correct: boolean;
      reason: string | null;
      score: number | null;
      detectors: readonly string[];
    })
  | (CaptchaIdentity & {
      event: 'verified';
      at: number;
      verified: boolean;
      /** Of a verified token: what it was flagged for. */
      reason: string | null;
      score: number;
      detectors: readonly string[];
      /** As the site's backend names it. */
      user_account: string | null;
    });

export interface CaptchaRecord extends CaptchaIdentity, CaptchaFacts {
  v: 1;
  /** UUIDv7 built from `timestamp` and `jti`. */
  id: string;
  /** `false`: the issue event never arrived, so the facts are unknown. */
  issued: boolean;
  status: CaptchaStatus;
  result_reason: string | null;
  submitted_at: number | null;
  submitted_correct: boolean | null;
  /** When the site's backend first verified the token. */
  verified_at: number | null;
  verified: boolean | null;
}

const unknownFacts: CaptchaFacts = {
  ip: null,
  asn: null,
  country: null,
  ja4: null,
  user_agent: '',
  device_type: 'unknown',
  ip_category: [],
  host: null,
  action: null,
  lane: null,
  user_account: null,
  session: null,
  web_view: null,
  iframe: null,
  score: null,
  threshold: null,
  detectors: [],
  selection_reason: null,
  access_rule: null,
  policy_type: null,
};

/** The record after one more event. It equals `known` when the event adds nothing. */
export function mergeCaptcha(known: CaptchaRecord | null, event: CaptchaEvent): CaptchaRecord {
  const { jti, account_id, site_key, timestamp, captcha_type } = event;
  const record: CaptchaRecord = known
    ? { ...known }
    : {
        v: 1,
        id: captchaId(jti, timestamp),
        jti,
        account_id,
        site_key,
        timestamp,
        captcha_type,
        ...unknownFacts,
        issued: false,
        status: 'Pending',
        result_reason: null,
        submitted_at: null,
        submitted_correct: null,
        verified_at: null,
        verified: null,
      };
  switch (event.event) {
    case 'issued':
    case 'blocked':
      applyFacts(record, event.facts);
      if (event.event === 'blocked') record.result_reason = event.reason;
      break;
    case 'submitted':
      applySubmission(record, event);
      break;
    case 'verified':
      applyVerification(record, event);
      break;
  }
  record.status = statusOf(record);
  return record;
}

/** A score from solving or verifying stays, and so does an account from verifying, whichever event arrived first. */
function applyFacts(record: CaptchaRecord, facts: CaptchaFacts): void {
  if (record.issued) return;
  const { score, detectors, user_account } = record;
  Object.assign(record, facts, { issued: true });
  record.user_account = user_account ?? facts.user_account;
  const isLater = record.submitted_at !== null || record.verified_at !== null;
  if (isLater && score !== null) Object.assign(record, { score, detectors });
}

/** The last of several rounds counts. A correct answer is final. */
function applySubmission(record: CaptchaRecord, event: CaptchaEvent & { event: 'submitted' }): void {
  if (record.submitted_correct === true || (record.submitted_at !== null && event.at <= record.submitted_at)) return;
  record.submitted_at = event.at;
  record.submitted_correct = event.correct;
  if (record.verified_at !== null) return;
  if (event.score !== null) Object.assign(record, { score: event.score, detectors: event.detectors });
  record.result_reason = event.reason;
}

/**
 * Verifying a spent token again does not undo the first verification. Edge and site verify a token once each: what one
 * of them flagged stays, and so does the higher score.
 */
function applyVerification(record: CaptchaRecord, event: CaptchaEvent & { event: 'verified' }): void {
  const { verified, at, reason, score, detectors, user_account } = event;
  const isFirst = record.verified_at === null;
  if (!verified && !isFirst) return;
  record.user_account = user_account ?? record.user_account;
  const isSecond = verified && record.verified === true;
  if (!isSecond || score > (record.score ?? 0)) Object.assign(record, { score, detectors });
  if (!isSecond || reason !== null) record.result_reason = reason;
  if (isSecond) return;
  record.verified_at = record.verified_at === null ? at : Math.min(record.verified_at, at);
  record.verified = verified;
}

function statusOf(record: CaptchaRecord): CaptchaStatus {
  if (record.captcha_type === 'blocked') return 'Disapproved';
  if (record.verified !== null) return record.verified ? 'Approved' : 'Disapproved';
  if (record.submitted_correct !== null) return record.submitted_correct ? 'Approved' : 'Disapproved';
  return 'Pending';
}

/** The same for every event of one captcha. Sorts by time. */
export function captchaId(jti: string, timestamp: number): string {
  const time = timestamp.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${jti.slice(0, 3)}-8${jti.slice(3, 6)}-${jti.slice(6, 18)}`;
}

/**
 * The key that captcha traffic is counted under, and the groups it is summed in. The shard returns one series per group
 * in this order, and the client reads them in this order.
 */
export const captchaTrafficGroups = captchaRecordTypes.flatMap((type) =>
  [true, false].map((verified) => ({ type, verified })),
);

/** The key that one captcha is counted under. `siteKey` contains no space. */
export function captchaCountKey(siteKey: string, captchaType: string, verified: boolean): string {
  return `${siteKey} ${captchaType} ${verified ? 'verified' : 'unverified'}`;
}
