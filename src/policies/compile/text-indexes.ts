/** Indexes of policies by what a text begins with, and by what it has somewhere. A text is read once, whatever their number. */

interface Node {
  /** What leads here from the node above. */
  label: string;
  children: Map<number, Node>;
  /** Policies for every path that comes by here, and for the one that ends here. */
  prefixed: number[];
  exact: number[];
}

/** Policies by the beginning of a path, or by a whole one. A path is walked no further than some policy reads. */
export class PathTree {
  readonly #root = nodeOf('');
  /** Every policy in the tree. */
  readonly all: number[] = [];

  add(path: string, isWhole: boolean, policy: number): void {
    const node = this.#nodeAt(path);
    (isWhole ? node.exact : node.prefixed).push(policy);
    this.all.push(policy);
  }

  visit(path: string, visit: (policies: readonly number[]) => void): void {
    let node: Node | undefined = this.#root;
    let at = 0;
    for (;;) {
      if (node.prefixed.length > 0) visit(node.prefixed);
      if (at === path.length) {
        if (node.exact.length > 0) visit(node.exact);
        return;
      }
      node = node.children.get(path.charCodeAt(at));
      if (node === undefined || !path.startsWith(node.label, at)) return;
      at += node.label.length;
    }
  }

  #nodeAt(path: string): Node {
    let node = this.#root;
    let at = 0;
    while (at < path.length) {
      const child = node.children.get(path.charCodeAt(at));
      if (child === undefined) {
        const made = nodeOf(path.slice(at));
        node.children.set(path.charCodeAt(at), made);
        return made;
      }
      let shared = 1;
      while (shared < child.label.length && child.label[shared] === path[at + shared]) shared++;
      if (shared < child.label.length) split(child, shared);
      node = child;
      at += shared;
    }
    return node;
  }
}

function nodeOf(label: string): Node {
  return { label, children: new Map(), prefixed: [], exact: [] };
}

/** Cuts the node's label: what it had moves to a new child. */
function split(node: Node, at: number): void {
  const lower = { ...node, label: node.label.slice(at) };
  node.label = node.label.slice(0, at);
  node.children = new Map([[lower.label.charCodeAt(0), lower]]);
  node.prefixed = [];
  node.exact = [];
}

/** Shorter pieces are not indexed. */
export const PIECE_MIN_CHARS = 3;
const KEY_BITS = 12;

/**
 * Policies by a piece of text that must be somewhere in a request's text. Of each piece, three characters stand in the
 * index. It may find a policy whose piece is not there, never miss one.
 */
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
