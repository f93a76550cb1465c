/** Where in a call the service refused something, as a form has it. Items are written `patterns.2` or `patterns[2]`. */
import type { Refusal } from '../api/call.ts';

const withDots = (path: string): string => path.replace(/\[(\d+)\]/g, '.$1');

/** `settings.note` and `rules[0].note` are at the field `note`, and `patterns[2]` is at `patterns`. */
export function isAt(path: string, field: string): boolean {
  return `.${withDots(path).replace(/\.\d+$/, '')}`.endsWith(`.${field}`);
}

/** For a field with one value in each line. */
export function lineOf(path: string): string {
  const index = /\.(\d+)$/.exec(withDots(path))?.[1];
  return index === undefined ? '' : `line ${Number(index) + 1}: `;
}

/**
 * A refusal of a call that sends a whole list for one item of it: `limits[3].name` is the field `name` of a form, or the
 * name of another limit.
 * @param items that were sent, in their order.
 */
export function ofItem(error: Refusal, list: string, items: readonly { name: string }[], own: string): Refusal {
  const details = error.details.map(({ path, message }) => {
    const [start = '', at] = new RegExp(`^${list}\\.(\\d+)\\.?`).exec(withDots(path)) ?? [];
    const name = items[Number(at)]?.name;
    if (at === undefined) return { path, message };
    return name === own
      ? { path: withDots(path).slice(start.length), message }
      : { path: '', message: `${name}: ${message}` };
  });
  return { ...error, details };
}
