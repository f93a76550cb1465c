/** Captchas as Parquet columns: the fields of their records, in the records' order. */
import { captchaFields } from '../captcha-fields.ts';
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
    const record = { ...flat, v: 1 };
    return JSON.stringify(Object.fromEntries(captchaFields.map((field) => [field, record[field]])));
  },
};
