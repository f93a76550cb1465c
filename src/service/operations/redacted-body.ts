/**
 * Enough of a request body to show what was asked for, without secrets, and bounded in size for any body.
 */
import { shownHost } from '../http/shown-url.ts';

const SECRET_NAME =
  /secret|webhookUrl|token(?!Field)|passw|passphrase|credential|jwt|authorization|(api|private)[_-]?key$/i;
const TEXT_MAX_CHARS = 256;
const ITEMS_MAX = 10;
const FIELDS_MAX = 50;
const DEPTH_MAX = 5;

/** @param isSecret a field around the value has the name of a secret: no text in it is kept. */
export function redactedBody(value: unknown, isSecret = false, depth = 0): unknown {
  if (typeof value === 'string' && isSecret) return '[redacted]';
  if (typeof value === 'string') return value.length > TEXT_MAX_CHARS ? `${value.slice(0, TEXT_MAX_CHARS)}…` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return '…';
  if (Array.isArray(value)) {
    const kept = value.slice(0, ITEMS_MAX).map((item) => redactedBody(item, isSecret, depth + 1));
    return value.length > ITEMS_MAX ? [...kept, `… ${value.length} in all`] : kept;
  }
  const fields = Object.entries(value).slice(0, FIELDS_MAX);
  return Object.fromEntries(
    fields.map(([name, field]) => {
      const text = name === 'url' && typeof field === 'string' ? shownHost(field) : field;
      return [name, redactedBody(text, isSecret || SECRET_NAME.test(name), depth + 1)];
    }),
  );
}
