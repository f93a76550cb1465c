/**
 * A site's own pattern on what visitors typed, in time linear in the text. JavaScript's engine
 * backtracks, so `(a|a)` forty times in a row, or `.*.*.*x`, would hold a Worker for minutes; here the
 * pattern becomes an automaton whose states all walk the text at once (Thompson 1968), and no pattern
 * can be slow. Groups, alternation, classes, anchors and counts are regular and kept;
 * look-around and back references are not, and are refused when the site is saved.
 */
import { parsePattern } from './pattern-syntax.ts';
import type { PatternNode } from './pattern-syntax.ts';

/** Fifty of the worst patterns take 0.1 s together on the longest address, 320 characters; usual ones microseconds. */
const STATES_MAX = 512;

/** Whether the pattern, which ignores letter case, matches anywhere in a text. */
export type LinearPattern = (text: string) => boolean;

type State =
  | { kind: 'char'; accepts: (code: number) => boolean; next: number }
  | { kind: 'split'; next: number; other: number }
  | { kind: 'assert'; holds: (text: string, at: number) => boolean; next: number }
  | { kind: 'match' };

const MATCH = 0;

/** `null`: not a pattern, not a regular one, or one that would need too many states. */
export function linearPattern(source: string): LinearPattern | null {
  const node = parsePattern(source);
  if (node === null) return null;
  const states: State[] = [{ kind: 'match' }];
  const start = build(node, MATCH, states);
  return start === null ? null : (text) => matchesAnywhere(states, start, text);
}

/** Adds the states of `node` that go on to `next`; answers their first one, or `null` when there are too many. */
function build(node: PatternNode, next: number, states: State[]): number | null {
  if (states.length > STATES_MAX) return null;
  switch (node.kind) {
    case 'char':
      return states.push({ kind: 'char', accepts: node.accepts, next }) - 1;
    case 'assert':
      return states.push({ kind: 'assert', holds: node.holds, next }) - 1;
    case 'sequence':
      return node.parts.reduceRight<number | null>(
        (after, part) => (after === null ? null : build(part, after, states)),
        next,
      );
    case 'choice':
      return node.branches.reduceRight<number | null>((other, branch) => {
        const first = build(branch, next, states);
        if (first === null || other === null) return first;
        return states.push({ kind: 'split', next: first, other }) - 1;
      }, null);
    case 'repeat':
      return buildRepeat(node, next, states);
  }
}

function buildRepeat(
  { part, min, max }: Extract<PatternNode, { kind: 'repeat' }>,
  next: number,
  states: State[],
): number | null {
  let first: number | null = next;
  if (max === Infinity) {
    const loop = states.push({ kind: 'split', next: MATCH, other: next }) - 1;
    const body = build(part, loop, states);
    if (body === null) return null;
    states[loop] = { kind: 'split', next: body, other: next };
    first = loop;
  } else {
    for (let optional = min; optional < max && first !== null; optional++) {
      const body: number | null = build(part, first, states);
      first = body === null ? null : states.push({ kind: 'split', next: body, other: next }) - 1;
    }
  }
  for (let times = 0; times < min && first !== null; times++) first = build(part, first, states);
  return first;
}

function matchesAnywhere(states: readonly State[], start: number, text: string): boolean {
  /** The position at which a state was last entered: none is entered twice. */
  const entered = new Int32Array(states.length).fill(-1);
  let waiting: number[] = [];
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : -1;
    const following: number[] = [];
    // The pattern may begin at every position.
    const open = [...waiting, start];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (entered[index] === at) continue;
      entered[index] = at;
      const state = states[index]!;
      if (state.kind === 'match') return true;
      if (state.kind === 'split') open.push(state.next, state.other);
      else if (state.kind === 'assert') {
        if (state.holds(text, at)) open.push(state.next);
      } else if (code >= 0 && state.accepts(code)) following.push(state.next);
    }
    waiting = following;
  }
  return false;
}
