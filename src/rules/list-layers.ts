/**
 * The lists whose entries a ruleset has. An entry has only the number of its list; verdict, mode and name are here, once
 * for each list. So a list of a million entries changes from monitored to enforced with a delta of a few bytes. An entry
 * whose list is not here has no effect.
 *
 *   {number u8, flags u8, name bytes u8, name}…
 */
import { type Decision, decisions } from '../contract/vocabulary.ts';

/** Numbers 1 to this. 0 is the operator's own rules. */
export const LIST_NUMBER_MAX = 255;
const MONITOR_FLAG = 4;
const HEADER_BYTES = 3;

export interface ListLayer {
  number: number;
  name: string;
  verdict: Decision;
  mode: 'enforce' | 'monitor';
}

export function encodeLayers(layers: readonly ListLayer[]): Uint8Array {
  const encoder = new TextEncoder();
  const rows = layers.map(({ number, name, verdict, mode }) => {
    const bytes = encoder.encode(name);
    if (number < 1 || number > LIST_NUMBER_MAX || bytes.length > 255)
      throw new TypeError('list layer is not canonical');
    return [number, decisions.indexOf(verdict) | (mode === 'monitor' ? MONITOR_FLAG : 0), bytes.length, ...bytes];
  });
  return Uint8Array.from(rows.flat());
}

/** By number; `null` when the bytes are no such table. */
export function openLayers(bytes: Uint8Array): readonly (ListLayer | undefined)[] | null {
  const layers: (ListLayer | undefined)[] = Array.from({ length: LIST_NUMBER_MAX + 1 });
  const decoder = new TextDecoder();
  let at = 0;
  while (at < bytes.length) {
    const number = bytes[at]!;
    const flags = bytes[at + 1] ?? 0;
    const end = at + HEADER_BYTES + (bytes[at + 2] ?? 0);
    const verdict = decisions[flags & 3];
    if (number === 0 || end > bytes.length || verdict === undefined) return null;
    const name = decoder.decode(bytes.subarray(at + HEADER_BYTES, end));
    layers[number] = { number, name, verdict, mode: (flags & MONITOR_FLAG) === 0 ? 'enforce' : 'monitor' };
    at = end;
  }
  return layers;
}
