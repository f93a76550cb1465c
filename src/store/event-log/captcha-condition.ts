/** Conditions of an audit search over captchas. Letter case never matters to `contains`. */
import { isSearched } from './captcha-fields.ts';
import type { CaptchaField } from './captcha-fields.ts';

export type CaptchaCondition =
  | { field: CaptchaField; is: string | boolean }
  | { field: CaptchaField; contains: string }
  /** Of a list: this member is in it, or is not. */
  | { field: CaptchaField; has: string }
  | { field: CaptchaField; lacks: string }
  /** At least one of these fields, or members of them, shows the text. */
  | { fields: readonly CaptchaField[]; contains: string };

/** Decided by a column; else by the rows themselves. */
export function byColumn(condition: CaptchaCondition): condition is CaptchaCondition & { field: CaptchaField } {
  return !('fields' in condition) && isSearched(condition.field);
}
