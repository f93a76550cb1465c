/** A pasted request and its headers. A header that comes several times is one text, joined with commas, as policies see it. */

export interface PastedRequest {
  url: string;
  method?: string;
  headers?: Record<string, string>;
}

const HEADER = /^([^\s:]+):(.*)$/;

/** Name in lower case, and value. `null`: not a header. */
export function headerOf(line: string): [name: string, value: string] | null {
  const [, name, value = ''] = HEADER.exec(line.trim()) ?? [];
  return name === undefined ? null : [name.toLowerCase(), value.trim()];
}

export class HeaderFields {
  readonly #fields = new Map<string, string>();

  get(name: string): string | undefined {
    return this.#fields.get(name);
  }

  set(name: string, value: string): void {
    this.#fields.set(name, value);
  }

  add(name: string, value: string): void {
    const known = this.#fields.get(name);
    // RFC 9113 section 8.2.3: a cookie header may come in pieces.
    this.#fields.set(name, known === undefined ? value : `${known}${name === 'cookie' ? '; ' : ', '}${value}`);
  }

  /** Unless there is one already. */
  offer(name: string, value: string): void {
    if (!this.#fields.has(name)) this.#fields.set(name, value);
  }

  all(): Record<string, string> {
    return Object.fromEntries(this.#fields);
  }
}
