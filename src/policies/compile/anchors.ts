/**
 * What must be so for a policy to apply, as keys of the index: of every `and` the rarest part, of every `or` all parts. A
 * request looks up what it has, and evaluates only the policies that it finds there and those that have no such key.
 */
import type { PolicyField } from '../../contract/vocabulary.ts';
import { type IpPrefix, parseCidr, parseIp, singleNetwork } from '../../address/ip.ts';
import { isAnd, isNot, isOr, type Expression, type PolicyTest } from '../expression.ts';
import { PIECE_MIN_CHARS } from './text-indexes.ts';
import { spelledValues } from './text-match.ts';

export type Anchor =
  | { kind: 'path'; path: string; isWhole: boolean }
  /** The field's text, in lower case, has this piece somewhere. */
  | { kind: 'piece'; field: PiecedField; piece: string }
  | { kind: 'network'; network: IpPrefix }
  /** The field has this value. */
  | { kind: 'value'; field: PolicyField; name: string | undefined; value: string | number }
  /** The field has a value. */
  | { kind: 'present'; field: PolicyField; name: string | undefined };

type PiecedField = 'path' | 'userAgent';

interface Anchors {
  anchors: Anchor[];
  /** How common it is that a request has one of them: the least of several is taken. */
  share: number;
}

/** Guesses, in thousandths of all requests. Only their order matters. */
const valueShares: Partial<Record<PolicyField, number>> = {
  ja4: 2,
  ip: 2,
  asn: 5,
  cookie: 10,
  query: 10,
  agent: 10,
  bot: 20,
  header: 50,
  ipCategory: 80,
  country: 100,
  host: 200,
};
const presentShares: Partial<Record<PolicyField, number>> = { agent: 10, query: 20, bot: 60, cookie: 150, header: 300 };
const SHARE_OF_OTHER_VALUES = 400;
const SHARE_OF_WHOLE_PATH = 2;
const SHARE_OF_PATH_CHARACTER = 400;
const SHARE_OF_PIECE_CHARACTER = 600;

/** `null`: any request may fulfil it. */
export function anchorsOf(expression: Expression): Anchors | null {
  if (isAnd(expression)) return rarest(expression.and.map(anchorsOf));
  if (isOr(expression)) {
    const parts: Anchors[] = [];
    for (const part of expression.or) {
      const anchors = anchorsOf(part);
      if (anchors === null) return null;
      parts.push(anchors);
    }
    return joined(parts);
  }
  if (isNot(expression)) return isNot(expression.not) ? anchorsOf(expression.not.not) : null;
  return anchorsOfTest(expression);
}

function rarest(parts: readonly (Anchors | null)[]): Anchors | null {
  return parts.reduce(
    (one, other) => (one === null || (other !== null && other.share < one.share) ? other : one),
    null,
  );
}

function joined(parts: readonly Anchors[]): Anchors {
  return {
    anchors: parts.flatMap(({ anchors }) => anchors),
    share: parts.reduce((sum, { share }) => sum + share, 0),
  };
}

function anchorsOfTest(test: PolicyTest): Anchors | null {
  const { field, name, operator, value } = test;
  if (field === 'path') return rarest([anchorsOfPath(test), anchorsOfPiece('path', test)]);
  if (field === 'userAgent') return anchorsOfPiece('userAgent', test);
  if (field === 'ip' && operator !== 'exists') return anchorsOfAddress(test);
  if (operator === 'equals' || operator === 'in') {
    const values = typeof value === 'string' || Array.isArray(value) ? spelled(test) : [value ?? 0];
    const share = valueShares[field] ?? SHARE_OF_OTHER_VALUES;
    return joined(values.map((one) => ({ anchors: [{ kind: 'value', field, name, value: one }], share })));
  }
  const share = presentShares[field];
  return share === undefined ? null : { anchors: [{ kind: 'present', field, name }], share };
}

function spelled(test: PolicyTest): readonly (string | number)[] {
  const { value } = test;
  return Array.isArray(value) && typeof value[0] === 'number' ? value : spelledValues(test);
}

function anchorsOfPath(test: PolicyTest): Anchors | null {
  const isWhole = test.operator === 'equals' || test.operator === 'in';
  if (!isWhole && test.operator !== 'startsWith' && test.operator !== 'matches') return null;
  const parts = spelledValues(test).map((text): Anchors | null => {
    const star = test.operator === 'matches' ? text.indexOf('*') : -1;
    const path = star < 0 ? text : text.slice(0, star);
    const exact = isWhole || (test.operator === 'matches' && star < 0);
    // Every path begins with a slash.
    if (!exact && path.length < 2) return null;
    const share = exact ? SHARE_OF_WHOLE_PATH : SHARE_OF_PATH_CHARACTER / path.length;
    return { anchors: [{ kind: 'path', path, isWhole: exact }], share };
  });
  return parts.includes(null) ? null : joined(parts.filter((part) => part !== null));
}

/** By the longest text without a star. */
function anchorsOfPiece(field: PiecedField, test: PolicyTest): Anchors | null {
  if (test.operator === 'exists') return null;
  const parts = spelledValues(test).map((text): Anchors | null => {
    const pieces = test.operator === 'matches' ? text.split('*') : [text];
    const piece = pieces.reduce((one, other) => (other.length > one.length ? other : one)).toLowerCase();
    if (piece.length < PIECE_MIN_CHARS) return null;
    return { anchors: [{ kind: 'piece', field, piece }], share: SHARE_OF_PIECE_CHARACTER / piece.length };
  });
  return parts.includes(null) ? null : joined(parts.filter((part) => part !== null));
}

function anchorsOfAddress({ operator, value }: PolicyTest): Anchors {
  const texts = (Array.isArray(value) ? value : [value]).map(String);
  const networks = texts.map((text) => {
    if (operator === 'ipIn') return parseCidr(text);
    const address = parseIp(text);
    return address && singleNetwork(address);
  });
  const share = (valueShares.ip ?? 0) * networks.length;
  return {
    anchors: networks.flatMap((network): Anchor[] => (network === null ? [] : [{ kind: 'network', network }])),
    share,
  };
}
