/** A visitor's way to the gate that runs in this Worker: their address, their browser's headers, and their cookies. */
import { navigation as ofFirefox } from '../../../test/support/browse.ts';
import { personsHeaders } from '../../../test/support/session.ts';

/** The gate and the service behind it, in virtual time. */
export interface Gate {
  fetch(request: Request): Promise<Response>;
  readonly signalsSecret: string;
}

const { 'user-agent': _, ...navigation } = ofFirefox;
const HOST = 'http://localhost';
const scripted = {
  accept: '*/*',
  'accept-language': 'en-US,en;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
  'sec-fetch-dest': 'empty',
  'sec-fetch-mode': 'cors',
  'sec-fetch-site': 'same-origin',
  'content-type': 'application/json',
};

export interface Answer {
  status: number;
  decision: string | null;
  text: string;
}

export class GateClient {
  readonly #gate: Gate;
  readonly #own: Record<string, string>;
  cookies: string;

  constructor(gate: Gate, ip: string, cookies = '', browser: Record<string, string> = {}) {
    this.#gate = gate;
    const signals = { 'x-signals-secret': gate.signalsSecret, 'x-client-ip': ip, 'x-client-country': 'DE' };
    this.#own = { ...personsHeaders, ...signals, ...browser };
    this.cookies = cookies;
  }

  /** A page, as the address bar asks for it. */
  open(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#send(path, { headers: { ...navigation, ...headers } });
  }

  /** A form of the site. */
  submit(path: string, fields: Record<string, string>): Promise<Answer> {
    const type = 'application/x-www-form-urlencoded';
    const headers = { ...navigation, 'sec-fetch-site': 'same-origin', origin: HOST, 'content-type': type };
    return this.#send(path, { method: 'POST', headers, body: new URLSearchParams(fields).toString() });
  }

  /** One of the gate's own addresses, as the page's script calls it. */
  async call(name: string, body: object): Promise<Answer & { body: Record<string, any> }> {
    const answer = await this.#send(`/__protect/${name}`, {
      method: 'POST',
      headers: scripted,
      body: JSON.stringify(body),
    });
    return { ...answer, body: JSON.parse(answer.text) as Record<string, any> };
  }

  async #send(
    path: string,
    init: { method?: string; headers: Record<string, string>; body?: string },
  ): Promise<Answer> {
    const headers: Record<string, string> = { ...this.#own, ...init.headers };
    if (this.cookies !== '') headers['cookie'] = this.cookies;
    if (init.body !== undefined) headers['content-length'] = String(init.body.length);
    const response = await this.#gate.fetch(new Request(HOST + path, { ...init, headers }));
    const set = response.headers.getSetCookie().map((line) => line.split(';', 1)[0]!);
    if (set.length > 0) this.cookies = set.join('; ');
    return {
      status: response.status,
      decision: response.headers.get('x-protect-decision'),
      text: await response.text(),
    };
  }
}
