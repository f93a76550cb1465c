/** Policies by the beginning of a path, or by a whole one. A path is walked once, and no further than some policy reads. */

interface Node {
  /** What leads here from the node above. */
  label: string;
  children: Map<number, Node>;
  /** Policies for every path that comes by here, and for the one that ends here. */
  prefixed: number[];
  exact: number[];
}

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
