/** Captchas as Parquet columns: the fields of their records, in the records' order. */
import type { CaptchaRecord } from '../captcha-record.ts';
import { double, integer, moment, type StreamSchema, text, texts, truth } from './stream-schema.ts';

export type FlatCaptcha = Omit<CaptchaRecord, 'v'>;

const nullable = { nullable: true };
const packed = { isPacked: true };
const statistics = { hasStatistics: true };

export const captchaSchema: StreamSchema<FlatCaptcha> = {
  columns: {
    id: text({ ...packed, ...statistics }),
    jti: text(packed),
    account_id: text(),
    site_key: text({ ...packed, ...statistics }),
    timestamp: moment(statistics),
    captcha_type: text(statistics),
    ip: text({ ...nullable, ...packed, ...statistics }),
    asn: integer({ ...nullable, ...packed, ...statistics }),
    country: text(nullable),
    ja4: text({ ...nullable, ...packed }),
    user_agent: text(packed),
    device_type: text(),
    ip_category: texts(),
    host: text({ ...nullable, ...packed }),
    action: text({ ...nullable, ...packed }),
    lane: text(nullable),
    user_account: text({ ...nullable, ...packed }),
    session: text({ ...nullable, ...packed }),
    web_view: truth(nullable),
    iframe: truth(nullable),
    score: double({ ...nullable, ...packed }),
    threshold: double(nullable),
    detectors: texts(packed),
    selection_reason: text(nullable),
    access_rule: text({ ...nullable, ...packed }),
    policy_type: text(nullable),
    issued: truth(),
    status: text(statistics),
    result_reason: text(nullable),
    submitted_at: moment(nullable),
    submitted_correct: truth(nullable),
    verified_at: moment(nullable),
    verified: truth(nullable),
  },

  flatten(record: CaptchaRecord) {
    return record;
  },

  json(flat) {
    return JSON.stringify({
      v: 1,
      id: flat.id,
      jti: flat.jti,
      account_id: flat.account_id,
      site_key: flat.site_key,
      timestamp: flat.timestamp,
      captcha_type: flat.captcha_type,
      ip: flat.ip,
      asn: flat.asn,
      country: flat.country,
      ja4: flat.ja4,
      user_agent: flat.user_agent,
      device_type: flat.device_type,
      ip_category: flat.ip_category,
      host: flat.host,
      action: flat.action,
      lane: flat.lane,
      user_account: flat.user_account,
      session: flat.session,
      web_view: flat.web_view,
      iframe: flat.iframe,
      score: flat.score,
      threshold: flat.threshold,
      detectors: flat.detectors,
      selection_reason: flat.selection_reason,
      access_rule: flat.access_rule,
      policy_type: flat.policy_type,
      issued: flat.issued,
      status: flat.status,
      result_reason: flat.result_reason,
      submitted_at: flat.submitted_at,
      submitted_correct: flat.submitted_correct,
      verified_at: flat.verified_at,
      verified: flat.verified,
    });
  },
};
