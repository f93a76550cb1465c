/**
 * Where values are in a JSON document: names with dots between them, `[]` for every item of a list. `data[].ip` is the
 * `ip` of each item of `data`; the empty selector is the document itself. A list of texts at the end counts as each text.
 */
import { isJsonObject } from '../bytes/json.ts';
import { failed, ok, type Result } from '../result.ts';

const NAMES_MAX = 16;
const NAME = /^[^.[\]]{1,64}(?:\[\])?$|^\[\]$/;

export type Selector = readonly { name: string | null; isEach: boolean }[];

/** The error is a phrase that follows the selector's name. */
export function parseSelector(text: string): Result<Selector, string> {
  const parts = text === '' ? [] : text.split('.');
  if (parts.length > NAMES_MAX) return failed(`has more than ${NAMES_MAX} names`);
  if (!parts.every((part) => NAME.test(part))) return failed('is not names with dots between them, like data[].ip');
  return ok(
    parts.map((part) => {
      const isEach = part.endsWith('[]');
      const name = isEach ? part.slice(0, -2) : part;
      return { name: name === '' ? null : name, isEach };
    }),
  );
}

/** Calls `take` with every text and number there. Returns whether the document has the place at all. */
export function selectValues(document: unknown, selector: Selector, take: (value: unknown) => void): boolean {
  const [step, ...rest] = selector;
  if (step === undefined) {
    for (const value of Array.isArray(document) ? (document as unknown[]) : [document]) take(value);
    return true;
  }
  const value = step.name === null ? document : member(document, step.name);
  if (value === undefined) return false;
  if (!step.isEach) return selectValues(value, rest, take);
  if (!Array.isArray(value)) return false;
  for (const item of value as unknown[]) if (!selectValues(item, rest, take)) take(undefined);
  return true;
}

function member(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
