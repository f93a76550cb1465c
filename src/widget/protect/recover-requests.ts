/**
 * Requests of the page's scripts that recover from a challenge: one that the gate challenged is sent again after the
 * visitor has passed. Requests to other origins are sent as they are.
 */
import { gateProblem, type Recovery } from './recovery.ts';

/** Whether requests to this address pass the gate. */
export type IsGuarded = (url: string) => boolean;

/** `fetch`: arguments and responses stay the same. Streams, which can be read only once, are sent as they are. */
export function recoverFetch(scope: { fetch: typeof fetch }, recovery: Recovery, isGuarded: IsGuarded): void {
  const send = scope.fetch.bind(scope);
  scope.fetch = async (input, init) => {
    const isRequest = input instanceof Request;
    const body: unknown = init?.body;
    if (!isGuarded(isRequest ? input.url : String(input)) || body instanceof ReadableStream) return send(input, init);
    // A Request's body can be read only once, so the copies are made before it is sent.
    const spares: Request[] = isRequest ? [input.clone(), input.clone()] : [];
    const attempt = recovery.attempt();
    let response = await send(input, init);
    while (await recovery.recover(gateResponse(response), attempt)) {
      response = await send(spares.pop() ?? input, init);
    }
    recovery.noted(gateResponse(response));
    for (const spare of spares) void spare.body?.cancel().catch(() => undefined);
    return response;
  };
}

function gateResponse(response: Response): Parameters<Recovery['recover']>[0] {
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    body: () => response.clone().json(),
  };
}

const HELD_EVENTS = ['readystatechange', 'load', 'loadend', 'progress', 'loadstart'] as const;

type OpenArguments = [
  method: string,
  url: string | URL,
  async?: boolean,
  user?: string | null,
  password?: string | null,
];

/**
 * `XMLHttpRequest`: the page's listeners get no event of the challenged response, only of the one after it. Our listener is
 * the first on every object, so stopping an event stops it for all listeners of the page, `on…` handlers included.
 * Synchronous requests are sent as they are.
 */
export function recoverXhr(
  scope: { XMLHttpRequest: typeof XMLHttpRequest },
  recovery: Recovery,
  isGuarded: IsGuarded,
): void {
  scope.XMLHttpRequest = class extends scope.XMLHttpRequest {
    #opened: OpenArguments | null = null;
    #headers: [string, string][] = [];
    #body: Document | XMLHttpRequestBodyInit | null = null;
    #attempt = recovery.attempt();
    #holding = false;
    #settled = false;

    constructor() {
      super();
      for (const type of HELD_EVENTS) this.addEventListener(type, (event) => this.#sift(event));
    }

    override open(...opened: OpenArguments): void {
      this.#holding = false;
      this.#headers = [];
      this.#attempt = recovery.attempt();
      this.#opened = opened[2] !== false && isGuarded(String(opened[1])) ? opened : null;
      this.#nativeOpen(opened);
    }

    override setRequestHeader(name: string, value: string): void {
      super.setRequestHeader(name, value);
      this.#headers.push([name, value]);
    }

    override send(body: Document | XMLHttpRequestBodyInit | null = null): void {
      this.#body = body;
      super.send(body);
    }

    override abort(): void {
      const held = this.#holding;
      this.#opened = null;
      this.#holding = false;
      super.abort();
      if (held) for (const type of ['abort', 'loadend']) this.dispatchEvent(new ProgressEvent(type));
    }

    /** With a third argument, even `undefined`, `open` makes a synchronous request. */
    #nativeOpen(opened: OpenArguments): void {
      if (opened.length === 2) super.open(opened[0], opened[1]);
      else super.open(opened[0], opened[1], opened[2] ?? true, opened[3], opened[4]);
    }

    #sift(event: Event): void {
      if (event.type === 'loadend' && !this.#holding && this.#opened !== null) {
        recovery.noted({ header: (name) => this.getResponseHeader(name) });
      }
      if (!this.#holding && !this.#settled && this.#opened !== null && this.readyState >= 2) {
        const problem = gateProblem({ status: this.status, header: (name) => this.getResponseHeader(name) });
        this.#holding = problem !== null && !this.#attempt.tried.has(problem);
      }
      if (!this.#holding) return;
      event.stopImmediatePropagation();
      if (event.type === 'loadend') void this.#recover();
    }

    async #recover(): Promise<void> {
      const opened = this.#opened;
      const again = await recovery.recover(
        {
          status: this.status,
          header: (name) => this.getResponseHeader(name),
          body: async () => this.#json(),
        },
        this.#attempt,
      );
      if (opened === null || opened !== this.#opened || !this.#holding) return;
      if (again) {
        this.#nativeOpen(opened);
        for (const [name, value] of this.#headers) super.setRequestHeader(name, value);
        super.send(this.#body);
        this.#holding = false;
        return;
      }
      this.#holding = false;
      this.#settled = true;
      this.dispatchEvent(new Event('readystatechange'));
      for (const type of ['load', 'loadend']) this.dispatchEvent(new ProgressEvent(type));
      this.#settled = false;
    }

    #json(): unknown {
      if (this.responseType === 'json') return this.response;
      return JSON.parse(this.responseType === '' || this.responseType === 'text' ? this.responseText : 'null');
    }
  };
}
