/** User agents in one case, with the policies that the index finds for them. Few headers make most requests: remembered. */
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { foldCase } from '../../rules/user-agent-fold.ts';
import { PieceIndex } from './piece-index.ts';

/** Longer ones are read anew. With the count: a megabyte at most. */
const REMEMBERED_MAX_CHARS = 512;
const REMEMBERED_MAX = 1000;

export interface ReadUserAgent {
  /** As `foldCase` spells it. */
  text: string;
  policies: readonly number[];
}

export class UserAgents {
  readonly pieces = new PieceIndex();
  readonly #remembered = new BoundedMap<ReadUserAgent>(REMEMBERED_MAX);

  read(header: string): ReadUserAgent {
    const known = this.#remembered.get(header);
    if (known) return known;
    const text = foldCase(header);
    const policies = new Set<number>();
    this.pieces.visit(text, (found) => {
      for (const policy of found) policies.add(policy);
    });
    const read = { text, policies: [...policies] };
    if (header.length <= REMEMBERED_MAX_CHARS) this.#remembered.set(header, read);
    return read;
  }
}
