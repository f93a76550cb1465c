/**
 * Lists as the management API takes and returns them: blocklists and allowlists of others that are fetched again and
 * again, or files that are replaced as a whole. See docs/lists.md.
 */
import * as z from 'zod/mini';
import { decisions } from '../vocabulary.ts';
import { isOutboundAddress } from './outbound-address.ts';

export const listFormatNames = ['text', 'csv', 'ndjson', 'json', 'crowdsec'] as const;

const URL_MAX_CHARS = 2048;
const HEADER_VALUE_MAX_CHARS = 1024;
const DAY_SECONDS = 86_400;
const WEEK_MINUTES = 10_080;
/** Publishers of lists ask for this much patience at least. */
const INTERVAL_MIN_MINUTES = 5;

/** In ids of rules (`list:name`), so it never needs an escape. */
export const listName = z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{0,47}$/, 'must be a-z, 0-9 and -, at most 48'));

/** Headers that the service sets itself, or that would change what the request means. */
const RESERVED_HEADERS =
  /^(?:host|connection|content-.*|transfer-encoding|upgrade|te|trailer|expect|range|accept.*|if-.*|user-agent|cf-.*|proxy-.*|x-forwarded-.*)$/i;

/** A header that is sent with every fetch. Stored sealed, and never returned. */
const authorization = z.strictObject({
  header: z.string().check(
    z.regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header'),
    z.refine((name) => !RESERVED_HEADERS.test(name), 'is a header that cannot be set'),
  ),
  value: z
    .string()
    .check(z.minLength(1), z.maxLength(HEADER_VALUE_MAX_CHARS), z.regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/)),
});
export type ListAuthorization = z.infer<typeof authorization>;

/** What a list is made of. `url: null` is a file that is replaced as a whole. */
export const listFields = {
  url: z.nullable(
    z.string().check(
      z.maxLength(URL_MAX_CHARS),
      z.refine((text) => isOutboundAddress(text) && URL.parse(text)?.hash === '', 'must be a public https address'),
    ),
  ),
  format: z.enum(listFormatNames),
  /** CSV: the name of the column, or its number from 1 where the file has no heading. */
  column: z.nullable(z.string().check(z.minLength(1), z.maxLength(64))),
  /** JSON and NDJSON: names with dots, `[]` for every item. */
  selector: z.nullable(z.string().check(z.maxLength(256))),
  authorization: z.nullable(authorization),
  verdict: z.enum(decisions),
  mode: z.enum(['enforce', 'monitor']),
  intervalMinutes: z.int().check(z.gte(INTERVAL_MIN_MINUTES), z.lte(WEEK_MINUTES)),
  /** Without a good reading for so long, the list has no effect. */
  expirySeconds: z.nullable(z.int().check(z.gte(3600), z.lte(365 * DAY_SECONDS))),
  maxChangePercent: z.int().check(z.gte(1), z.lte(100)),
  includeReserved: z.boolean(),
};

/** The settings of a list without its name and its secret. */
export interface ListSettings {
  url: string | null;
  format: (typeof listFormatNames)[number];
  column: string | null;
  selector: string | null;
  verdict: (typeof decisions)[number];
  mode: 'enforce' | 'monitor';
  intervalMinutes: number;
  expirySeconds: number | null;
  maxChangePercent: number;
  includeReserved: boolean;
}

/** Fields that do not fit each other, with the reason. */
export function settingsErrors({ url, format, column, selector }: ListSettings): { path: string; message: string }[] {
  const errors: { path: string; message: string }[] = [];
  if (format === 'csv' && column === null) errors.push({ path: 'column', message: 'is required with csv' });
  if (format !== 'csv' && column !== null) errors.push({ path: 'column', message: 'belongs to csv' });
  if (format !== 'json' && format !== 'ndjson' && selector !== null) {
    errors.push({ path: 'selector', message: 'belongs to json and ndjson' });
  }
  if (format === 'crowdsec' && url === null) errors.push({ path: 'url', message: 'is required with crowdsec' });
  return errors;
}

/** `new`: never read. `failing`: the last attempt failed, and the last good reading is in force. */
export const listStates = ['new', 'good', 'failing', 'expired'] as const;

/** What became of the lines of a reading. */
export const readingReport = z.object({
  /** Lines that are neither empty nor comments. */
  lines: z.int(),
  /** Lines without a value that is understood. */
  notUnderstood: z.int(),
  /** Private, local and other reserved networks that were left out. */
  reserved: z.int(),
  /** Networks wider than a list may have: 0.0.0.0/0 is everybody. */
  tooWide: z.int(),
  /** The first lines that were left out. */
  examples: z.array(z.object({ line: z.int(), text: z.string(), reason: z.string() })),
});

export const listStatus = z.object({
  name: z.string(),
  url: z.nullable(z.string()),
  format: z.enum(listFormatNames),
  column: z.nullable(z.string()),
  selector: z.nullable(z.string()),
  /** Whether a header is sent with every fetch. */
  hasAuthorization: z.boolean(),
  verdict: z.enum(decisions),
  mode: z.enum(['enforce', 'monitor']),
  intervalMinutes: z.int(),
  expirySeconds: z.nullable(z.int()),
  maxChangePercent: z.int(),
  includeReserved: z.boolean(),
  state: z.enum(listStates),
  /** In force. */
  entries: z.int(),
  /** Times are epoch milliseconds. */
  createdAt: z.int(),
  triedAt: z.nullable(z.int()),
  /** Of the last good reading, changed or not. */
  confirmedAt: z.nullable(z.int()),
  changedAt: z.nullable(z.int()),
  /** Of the next fetch; `null` for a file. */
  nextAt: z.nullable(z.int()),
  /** Attempts since the last good reading. */
  failures: z.int(),
  error: z.nullable(z.string()),
  /** Of the last reading that changed something. */
  lastChange: z.nullable(z.object({ added: z.int(), removed: z.int() })),
  /** Of the last good reading. */
  report: z.nullable(readingReport),
});
export type ListStatus = z.infer<typeof listStatus>;
export type ReportField = z.infer<typeof readingReport>;
