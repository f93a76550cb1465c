/**
 * The service as its clients meet it, for the clauses: accounts that the operator's command line makes in the running
 * stack, calls with an API key, visitors who solve a challenge. Nothing here looks behind the HTTP interface.
 */
import { expect } from 'vitest';
import { runInStack } from '../../src/cli/control.ts';
import type { Stack } from '../../src/cli/stack.ts';
import { StateDir } from '../../src/cli/state.ts';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import type { SiteverifyResponse } from '../../src/contract/captcha/siteverify.ts';
import type { AccountTier } from '../../src/contract/vocabulary.ts';
import { serviceApi } from '../../src/console/api/service-api.ts';
import { solveWork } from '../support/session.ts';

/** One statement about the HTTP interface, and what shows that it holds. */
export interface Clause {
  kind: 'endpoint' | 'field' | 'limit' | 'rejection' | 'silent' | 'state';
  says: string;
  holds(service: Service): Promise<void>;
}

/** Made once, for several clauses that read it and do not change it. */
export function once<Value>(make: (service: Service) => Promise<Value>): (service: Service) => Promise<Value> {
  let made: Promise<Value> | undefined;
  return (service) => (made ??= make(service));
}

/** A response of any status. `paths` are the fields that an error names. */
export interface Outcome {
  status: number;
  /** Whatever the JSON holds: clauses check it field by field. */
  // oxlint-disable-next-line typescript/no-explicit-any -- see above
  body: any;
  key: string | undefined;
  paths: string[];
  headers: Headers;
}

interface CallOptions {
  method?: string;
  /** `null`: no header at all. */
  authorization?: string | null;
  contentType?: string | null;
}

const DOMAIN = 'shop.example';

export class Service {
  /** Endpoints that have responded with status 200, as `POST /sites/get`. */
  readonly reached = new Set<string>();
  readonly #stack: () => Stack;
  #names = 0;

  constructor(stack: () => Stack) {
    this.#stack = stack;
  }

  /** For names and addresses that must be unique. */
  nextName(): string {
    this.#names += 1;
    return `conformance-${this.#names}`;
  }

  /** A command of the operator, as `npm run gatehouse` sends it into a running stack. */
  async operator(...args: string[]): Promise<unknown> {
    const control = new StateDir(this.#stack().stateDir).control();
    if (!control) throw new Error('The stack is not running');
    const { exitCode, output } = await runInStack(control, args);
    if (exitCode !== 0) throw new Error(`${args.join(' ')}: ${output}`);
    return JSON.parse(output);
  }

  async account({
    tier = 'enterprise',
    permissions,
  }: { tier?: AccountTier; permissions?: string } = {}): Promise<Account> {
    const ownerEmail = `${this.nextName()}@example.com`;
    const made = await this.operator('account', 'create', '--email', ownerEmail, '--tier', tier);
    const { id } = made as { id: string };
    const granted = permissions === undefined ? [] : ['--permissions', permissions];
    const key = await this.operator('key', 'create', '--account', id, '--name', 'conformance', ...granted);
    return new Account(this, id, ownerEmail, (key as { token: string }).token);
  }

  /** A request with any body: text is sent as it is, anything else as JSON. */
  async send(path: string, body?: unknown, options: CallOptions = {}): Promise<Outcome> {
    const { method = 'POST', authorization = null, contentType = 'application/json' } = options;
    const isRaw =
      typeof body === 'string' || body instanceof URLSearchParams || body instanceof FormData || body instanceof Blob;
    const response = await fetch(`${this.#stack().serviceUrl}${path}`, {
      method,
      headers: {
        ...(authorization === null ? {} : { authorization }),
        ...(body === undefined || contentType === null ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    const result = (isJson ? JSON.parse(text) : text) as { error?: { key?: string; details?: { path: string }[] } };
    if (response.status === 200) this.reached.add(`${method} ${path}`);
    const paths = (result.error?.details ?? []).map((detail) => detail.path);
    return { status: response.status, body: result, key: result.error?.key, paths, headers: response.headers };
  }

  /** A visitor's browser asks for a challenge on a page of the site. */
  async challenge(siteKey: string, userAgent = 'Mozilla/5.0 (conformance)', more: object = {}): Promise<Outcome> {
    return this.#visit('/captcha/v1/challenge', userAgent, { siteKey, ...more });
  }

  /** A token as the widget puts it into the form. */
  async token(siteKey: string, userAgent?: string): Promise<string> {
    const challenge = await this.challenge(siteKey, userAgent);
    expect(challenge).toMatchObject({ status: 200, body: { kind: 'pow' } });
    const { challenge: sealed, pow } = challenge.body as ChallengeResponse;
    const solution = await solveWork(pow!);
    const solved = await this.#visit('/captcha/v1/solution', userAgent, { challenge: sealed, solution });
    const { token } = solved.body as SolutionResponse;
    if (token === undefined) throw new Error(`not solved: ${JSON.stringify(solved)}`);
    return token;
  }

  async verify(secret: string, token: string, more: object = {}): Promise<SiteverifyResponse> {
    const outcome = await this.send('/siteverify', { secret, token, ...more });
    expect(outcome.status).toBe(200);
    return outcome.body as SiteverifyResponse;
  }

  async #visit(path: string, userAgent = 'Mozilla/5.0 (conformance)', body: object = {}): Promise<Outcome> {
    const headers = {
      'content-type': 'application/json',
      'user-agent': userAgent,
      'accept-language': 'en',
      'sec-fetch-site': 'cross-site',
      origin: `https://www.${DOMAIN}`,
    };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${this.#stack().serviceUrl}${path}`, init);
    const result = (await response.json()) as { error?: { key?: string } };
    return { status: response.status, body: result, key: result.error?.key, paths: [], headers: response.headers };
  }
}

export class Account {
  readonly service: Service;
  readonly id: string;
  readonly ownerEmail: string;
  /** The bearer token of a key. */
  readonly key: string;

  constructor(service: Service, id: string, ownerEmail: string, key: string) {
    this.service = service;
    this.id = id;
    this.ownerEmail = ownerEmail;
    this.key = key;
  }

  /** Calls that succeed, typed by the OpenAPI document. */
  readonly api = serviceApi(async (method, path, body) => {
    const outcome = await this.call(path, body, method.toUpperCase());
    if (outcome.status !== 200) throw new Error(`${path}: ${outcome.status} ${JSON.stringify(outcome.body)}`);
    return outcome.body;
  });

  /** A call of any outcome. */
  call(path: string, body?: unknown, method = 'POST'): Promise<Outcome> {
    return this.service.send(path, body, { method, authorization: `Bearer ${this.key}` });
  }

  /** A call that is refused with 400 because of the field at `path`. */
  async refused(endpoint: string, body: unknown, path: string, method = 'POST'): Promise<void> {
    const { status, key, paths } = await this.call(endpoint, body, method);
    expect([endpoint, body, status, key]).toEqual([endpoint, body, 400, expect.stringMatching(/^(API|PORTAL)\./)]);
    expect(paths).toContain(path);
  }

  /** The same account by another of its keys. */
  withKey(key: string): Account {
    return new Account(this.service, this.id, this.ownerEmail, key);
  }

  /** A site on `shop.example` whose challenge is a small proof of work, unless `settings` say otherwise. */
  addSite(settings: object = {}) {
    return this.api.post('/sites/create', {
      name: this.service.nextName(),
      settings: { domains: [DOMAIN], captchaType: 'pow', powDifficulty: 1, ...settings },
    });
  }

  /** An active instance. `siteKey` belongs to no other one. */
  async addInstance(siteKey?: string) {
    const globalSiteKey = siteKey ?? (await this.addSite()).siteKey;
    const cname = `${this.service.nextName()}.example.org`;
    return this.api.post('/protect/instances/create', { name: 'Shop', cname, globalSiteKey });
  }

  block(field: string, value: string, more: object = {}): Promise<Outcome> {
    const conditions = [{ field, operator: 'equals', value }];
    return this.call('/access-control/create', { rule: { type: 'block', conditions, ...more } });
  }
}
