/**
 * Reads the text form of a condition, such as `path startsWith "/api" and not cookie["sid"] exists`. `not` binds closer
 * than `and`, `and` closer than `or`. The parser keeps its own stack, so that no text overflows another. An error says
 * where it is and what could stand there. The result is in canonical form.
 */
import { EXPRESSION_DEPTH_MAX, EXPRESSION_NODES_MAX } from '../../contract/management/policy-set/policy-fields.ts';
import { failed, ok, type Result } from '../../result.ts';
import { grouped } from '../canonical.ts';
import type { Expression } from '../expression.ts';
import { isField, isNot, readTest } from './read-test.ts';
import { expected, type TextProblem, Tokens } from './tokens.ts';

/** As long as a whole policy set. */
const TEXT_MAX_CHARS = 512 * 1024;
/** Parentheses may be redundant, so they may go deeper than the tree. */
const PARENTHESES_MAX = 100;

export interface TextError {
  /** In UTF-16 code units from the start of the text. */
  offset: number;
  /** From 1. */
  line: number;
  column: number;
  message: string;
}

interface Part {
  expression: Expression;
  depth: number;
}

/** What is open between two parentheses: the complete parts of `or`, the parts of the `and` that is not, and the `not`s. */
interface Frame {
  ors: Part[];
  ands: Part[];
  nots: number;
}

export function parseExpression(text: string): Result<Expression, TextError> {
  const parsed = text.length > TEXT_MAX_CHARS ? failed(tooLong) : parse(text);
  return parsed.ok ? parsed : failed({ ...placeOf(text, parsed.error.offset), message: parsed.error.message });
}

const tooLong: TextProblem = {
  offset: TEXT_MAX_CHARS,
  message: `the text is longer than ${TEXT_MAX_CHARS} characters`,
};

function placeOf(text: string, offset: number): Omit<TextError, 'message'> {
  const before = text.slice(0, offset);
  return { offset, line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

function parse(text: string): Result<Expression, TextProblem> {
  const tokens = new Tokens(text);
  const frames: Frame[] = [emptyFrame()];
  let nodes = 0;
  for (;;) {
    const frame = frames.at(-1)!;
    const token = tokens.next;
    if (isNot(token)) {
      tokens.take();
      frame.nots++;
      if (frame.nots >= EXPRESSION_DEPTH_MAX) return failed(tooDeep(token.offset));
      nodes++;
    } else if (tokens.skips('(')) {
      if (frames.push(emptyFrame()) > PARENTHESES_MAX) {
        return failed({ offset: token.offset, message: `more than ${PARENTHESES_MAX} open parentheses` });
      }
    } else if (isField(token)) {
      const test = readTest(tokens);
      if (!test.ok) return test;
      const depth = 'not' in test.value ? 2 : 1;
      nodes += depth;
      const ended = afterTest(tokens, frames, { expression: test.value, depth });
      if (!ended.ok) return ended;
      nodes += ended.value.groups;
      if (nodes > EXPRESSION_NODES_MAX) {
        return failed({ offset: token.offset, message: `more than ${EXPRESSION_NODES_MAX} parts` });
      }
      if (ended.value.whole) return ok(ended.value.whole);
    } else return failed(expected('a field, "not" or "("', token));
  }
}

/** Up to where the next test must stand, or to the end. */
function afterTest(
  tokens: Tokens,
  frames: Frame[],
  test: Part,
): Result<{ groups: number; whole: Expression | null }, TextProblem> {
  let part = test;
  let groups = 0;
  const close = (kind: 'and' | 'or', parts: readonly Part[]): Part => {
    const made = group(kind, parts);
    groups += made.groups;
    return made;
  };
  const closed = ({ ors, ands }: Frame): Part => close('or', [...ors, close('and', ands)]);
  for (;;) {
    const frame = frames.at(-1)!;
    frame.ands.push(negated(part, frame.nots));
    frame.nots = 0;
    const token = tokens.take();
    const isWord = token.kind === 'word';
    if (isWord && token.value === 'and') return ok({ groups, whole: null });
    if (isWord && token.value === 'or') {
      frame.ors.push(close('and', frame.ands));
      frame.ands = [];
      return ok({ groups, whole: null });
    }
    const isOpen = frames.length > 1;
    const isClosed = isOpen ? token.kind === 'sign' && token.value === ')' : token.kind === 'end';
    if (!isClosed) return failed(expected(isOpen ? '"and", "or" or ")"' : '"and", "or" or the end', token));
    part = closed(frame);
    if (part.depth > EXPRESSION_DEPTH_MAX) return failed(tooDeep(token.offset));
    if (!isOpen) return ok({ groups, whole: part.expression });
    frames.pop();
  }
}

function emptyFrame(): Frame {
  return { ors: [], ands: [], nots: 0 };
}

function tooDeep(offset: number): TextProblem {
  return { offset, message: `nested deeper than ${EXPRESSION_DEPTH_MAX} levels` };
}

function negated({ expression, depth }: Part, times: number): Part {
  let result = expression;
  for (let time = 0; time < times; time++) result = { not: result };
  return { expression: result, depth: depth + times };
}

/** `groups`: how many more the whole has. A group inside a group of its kind becomes part of it. */
function group(kind: 'and' | 'or', parts: readonly Part[]): Part & { groups: number } {
  if (parts.length === 1) return { ...parts[0]!, groups: 0 };
  const joined = parts.filter(({ expression }) => kind in expression).length;
  const depths = parts.map(({ expression, depth }) => (kind in expression ? depth - 1 : depth));
  return {
    expression: grouped(
      kind,
      parts.map(({ expression }) => expression),
    ),
    depth: 1 + Math.max(...depths),
    groups: 1 - joined,
  };
}
