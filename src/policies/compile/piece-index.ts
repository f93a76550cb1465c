/**
 * Policies by a piece of text that must be somewhere in a request's text. Of each piece, three characters stand in the
 * index; a text is read once, whatever the number of pieces. It may find a policy whose piece is not there, never miss one.
 */

/** Shorter pieces are not indexed. */
export const PIECE_MIN_CHARS = 3;
const KEY_BITS = 12;

export class PieceIndex {
  /** Policies by the key of three characters. */
  readonly #policies: (number[] | undefined)[] = Array.from({ length: 2 ** KEY_BITS }, () => undefined);
  /** Every policy in the index. */
  readonly all: number[] = [];

  get size(): number {
    return this.all.length;
  }

  /** Under those of its characters that the fewest others have. */
  add(piece: string, policy: number): void {
    let best = keyAt(piece, 0);
    for (let at = 1; at + PIECE_MIN_CHARS <= piece.length; at++) {
      const key = keyAt(piece, at);
      if ((this.#policies[key]?.length ?? 0) < (this.#policies[best]?.length ?? 0)) best = key;
    }
    (this.#policies[best] ??= []).push(policy);
    this.all.push(policy);
  }

  visit(text: string, visit: (policies: readonly number[]) => void): void {
    let [first, second] = [text.charCodeAt(0), text.charCodeAt(1)];
    for (let at = 2; at < text.length; at++) {
      const third = text.charCodeAt(at);
      const policies = this.#policies[keyOf(first, second, third)];
      if (policies !== undefined) visit(policies);
      first = second;
      second = third;
    }
  }
}

function keyAt(text: string, at: number): number {
  return keyOf(text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2));
}

function keyOf(first: number, second: number, third: number): number {
  return Math.imul(first + (second << 8) + (third << 16), 0x9e3779b1) >>> (32 - KEY_BITS);
}
