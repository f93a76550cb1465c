/** Conditions of an audit search over captchas. `contains` ignores letter case. */
import { type CaptchaField, isSearched } from './captcha-fields.ts';

export type CaptchaCondition =
  | { field: CaptchaField; is: string | boolean }
  | { field: CaptchaField; contains: string }
  /** Of a list field: it has this item, or lacks it. */
  | { field: CaptchaField; has: string }
  | { field: CaptchaField; lacks: string }
  /** At least one of these fields, or an item of a list field, contains the text. */
  | { fields: readonly CaptchaField[]; contains: string };

/** Whether one column decides the condition. */
export function byColumn(condition: CaptchaCondition): condition is CaptchaCondition & { field: CaptchaField } {
  return !('fields' in condition) && isSearched(condition.field);
}
