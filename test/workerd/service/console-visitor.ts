/** A browser on the console: it keeps cookies, and sends what a page of the console sends. Each has its own network. */
import { Authenticator, type Lies, type PasskeyKind } from '../../support/authenticator.ts';
import { createUser } from '../../../src/store/d1/users.ts';
import type { UserRole } from '../../../src/contract/management/permissions.ts';
import { createSignInLink } from '../../../src/store/d1/sign-in-links.ts';
import { newAccount, send, serviceEnv, serviceUrl, type TestAccount } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';

export interface Answer {
  status: number;
  body: any;
  headers: Headers;
}

let browsers = 0;
let people = 0;

export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #address: string;

  constructor() {
    browsers += 1;
    this.#address = `10.${browsers % 256}.${Math.floor(browsers / 256)}.1`;
  }

  /** A call of a page of the console. `null` in `headers` leaves one out. */
  async call(
    method: 'GET' | 'POST',
    path: string,
    body: unknown = {},
    headers: Record<string, string | null> = {},
  ): Promise<Answer> {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ');
    const all: Record<string, string | null> = {
      'sec-fetch-site': 'same-origin',
      origin: method === 'GET' ? null : serviceUrl,
      'cf-connecting-ip': this.#address,
      'user-agent': 'Browser of a test',
      'content-type': method === 'GET' ? null : 'application/json',
      cookie: cookie === '' ? null : cookie,
      ...headers,
    };
    const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null);
    const response = await send(path, {
      method,
      headers: Object.fromEntries(given),
      ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers };
  }

  post(path: string, body: unknown = {}): Promise<Answer> {
    return this.call('POST', path, body);
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  /** Whether the management API takes the session. */
  async isSignedIn(): Promise<boolean> {
    return (await this.post('/sites/get')).status === 200;
  }

  async signInByLink(email: string, accountId: string | null = null): Promise<Answer> {
    return this.post('/console/auth/link', { token: await linkFor(email, accountId) });
  }

  async enrol(name = 'laptop', kind: PasskeyKind = 'ES256'): Promise<Authenticator> {
    const authenticator = await Authenticator.made(serviceUrl, kind);
    const options = await this.post('/console/auth/passkeys/options');
    const credential = await authenticator.create(options.body);
    const enrolled = await this.post('/console/auth/passkeys/enrol', { name, credential });
    if (enrolled.status !== 200) throw new Error(JSON.stringify(enrolled.body));
    return authenticator;
  }

  async signInByPasskey(authenticator: Authenticator, lies: Lies = {}): Promise<Answer> {
    const options = await this.post('/console/auth/passkey/options');
    const credential = await authenticator.get(options.body, lies);
    return this.post('/console/auth/passkey/verify', { credential });
  }
}

export function linkFor(email: string, accountId: string | null = null): Promise<string> {
  return createSignInLink(serviceEnv, { email, accountId }, testNow());
}

export interface Member {
  test: TestAccount;
  email: string;
}

/** A new account with a member of that role, who was invited and never signed in. */
export async function newMember(role: UserRole, account?: TestAccount): Promise<Member> {
  people += 1;
  const test = account ?? (await newAccount());
  const email = `person${people}@example.com`;
  const made = await createUser(serviceEnv, test.account.id, { email, name: `Person ${people}`, role }, testNow());
  if (!made.ok) throw new Error(made.error);
  return { test, email };
}

/** Somebody of that role, signed in with a link. */
export async function signedIn(role: UserRole, account?: TestAccount): Promise<Member & { browser: Browser }> {
  const member = await newMember(role, account);
  const browser = new Browser();
  const answer = await browser.signInByLink(member.email, member.test.account.id);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return { ...member, browser };
}
