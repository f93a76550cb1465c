/** One request while it is evaluated: its facts, the reading of its path that counts now, and what was parsed of it. */
import { parseIpInto } from '../../address/ip.ts';
import { foldCase } from '../../rules/user-agent-fold.ts';
import type { PolicyRequest } from '../request.ts';
import { NamePlaces, readCookieValues, readHeaderValues, readQueryValues, type NamedValues } from './named-values.ts';
import { PieceIndex } from './text-indexes.ts';

export const namedFields = ['header', 'cookie', 'query'] as const;
export type NamedField = (typeof namedFields)[number];
/** What the policies of a config read of requests. */
export interface Reads extends Readonly<Record<NamedField, NamePlaces>> {
  /** Policies by a piece of the user agent. */
  readonly userAgents: PieceIndex;
}

export function newReads(): Reads {
  const [header, cookie, query] = [new NamePlaces(), new NamePlaces(), new NamePlaces()];
  return { header, cookie, query, userAgents: new PieceIndex() };
}

/** Names of headers have no case. */
export function placeOfName(reads: Reads, field: NamedField, name: string): number {
  return reads[field].add(field === 'header' ? name.toLowerCase() : name);
}

let lastId = 0;
/** Of the one request that is being evaluated: an evaluation never waits. */
const words = new Uint32Array(4);

export class RequestView {
  /** Different for every request, and for every reading of its path. */
  readonly id: number;
  readingId: number;
  readonly request: PolicyRequest;
  /** `undefined`: it could be any path. */
  path: string | undefined = undefined;
  /** Whether the path is in lower case, and compared with values in lower case. */
  isFolded = false;
  readonly #reads: Reads;
  #header: NamedValues | undefined = undefined;
  #cookie: NamedValues | undefined = undefined;
  #query: NamedValues | undefined = undefined;
  #userAgent: string | undefined = undefined;
  #family: 0 | 4 | 6 | -1 = -1;

  constructor(request: PolicyRequest, reads: Reads) {
    this.request = request;
    this.#reads = reads;
    this.id = this.readingId = ++lastId;
  }

  readAs(path: string | undefined, isFolded: boolean): void {
    this.path = path;
    this.isFolded = isFolded;
    this.readingId = ++lastId;
  }

  /** In one case. */
  get userAgent(): string {
    return (this.#userAgent ??= foldCase(this.request.userAgent));
  }

  /** Of the address. Its words are then in `address`. 0: there is none. */
  get family(): 0 | 4 | 6 {
    if (this.#family === -1) this.#family = this.request.ip === null ? 0 : parseIpInto(this.request.ip, words);
    return this.#family;
  }

  get address(): Uint32Array {
    return words;
  }

  /** `undefined`: nobody knows. */
  named(field: NamedField): NamedValues | undefined {
    const { headers, cookie, query } = this.request;
    const places = this.#reads[field];
    switch (field) {
      case 'header':
        return (this.#header ??= headers && readHeaderValues(places, headers));
      case 'cookie':
        return (this.#cookie ??= cookie === undefined ? undefined : readCookieValues(places, cookie));
      case 'query':
        return (this.#query ??= query === undefined ? undefined : readQueryValues(places, query));
    }
  }
}
