/** A program that calls the console's sign-in as a browser does. It keeps cookies, and each has its own address. */
import { expect } from 'vitest';
import type { StackFacts } from '../../src/cli/state.ts';

let browsers = 0;

/** A browser: it keeps cookies, and goes where it is sent. */
export class ConsoleBrowser {
  readonly cookies = new Map<string, string>();
  readonly #address = `10.0.${(browsers += 1)}.1`;
  readonly #stack: StackFacts;
  readonly #signalsSecret: string;

  /** @param signalsSecret of the proxy in front of the service, which says each browser's address. */
  constructor(stack: StackFacts, signalsSecret: string) {
    this.#stack = stack;
    this.#signalsSecret = signalsSecret;
  }

  async fetch(url: string, headers: Record<string, string> = {}, method = 'GET', body?: object): Promise<Response> {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, {
      method,
      headers: {
        'x-signals-secret': this.#signalsSecret,
        'x-client-ip': this.#address,
        ...(cookie === '' ? {} : { cookie }),
        ...headers,
      },
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** A call of a page of the console. */
  async call(method: 'GET' | 'POST', path: string, headers: Record<string, string> = {}, body?: object) {
    const origin = new URL(this.#stack.consoleUrl).origin;
    const response = await this.fetch(
      `${this.#stack.serviceUrl}${path}`,
      { 'sec-fetch-site': 'same-origin', origin, 'content-type': 'application/json', ...headers },
      method,
      body,
    );
    return { status: response.status, body: (await response.json()) as Record<string, any> };
  }

  async begin(): Promise<string> {
    const { body } = await this.call('POST', '/console/auth/oidc/start');
    return body['url'] as string;
  }

  /** Back from the issuer, as a navigation that another site began: without the Strict cookie. */
  async comeBack(back: URL): Promise<string> {
    const session = this.cookies.get('gatehouse');
    this.cookies.delete('gatehouse');
    const response = await this.fetch(`${this.#stack.serviceUrl}${back.pathname}${back.search}`, {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
    });
    if (session !== undefined) this.cookies.set('gatehouse', session);
    expect(response.status).toBe(303);
    return response.headers.get('location') ?? '';
  }

  /** What the page of the console does then. */
  finish(replaces?: string) {
    return this.call('POST', '/console/auth/oidc/finish', {}, { replaces });
  }

  async whoAmI(): Promise<unknown> {
    const { status, body } = await this.call('GET', '/console/auth/me');
    return status === 200 ? body['email'] : null;
  }
}
