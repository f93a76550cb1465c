/**
 * A program without a browser, in a network of its own. Work is solved natively, by OpenSSL; only the time of the solving
 * counts, so that the figures are a lower bound of what a script pays.
 */
import type { Stack } from '../../src/cli/stack.ts';
import type { ChallengeResponse, PowTask, SessionChallenge } from '../../src/contract/captcha/challenge-api.ts';
import { signalsOf } from '../../test/e2e/edge-visitor.ts';
import { browse } from '../../test/support/browse.ts';
import { squaredNatively } from '../../test/support/native-squarings.ts';
import { withAnswers } from '../../test/support/probe-answers.ts';
import { PERSONS_BROWSER, personsHeaders } from '../../test/support/session.ts';

/** More than any session gets. */
const REQUESTS_MAX = 3000;

export class Script {
  static #networks = 0;
  readonly #edgeUrl: string;
  readonly #headers: Record<string, string>;
  readonly #cookies = new Map<string, string>();
  #next: SessionChallenge | undefined;
  #spentBeforeMs = 0;
  solvingMs = 0;
  pieces = 0;
  total = 0;

  constructor(stack: Stack) {
    this.#edgeUrl = stack.edgeUrl;
    this.#headers = { ...personsHeaders, ...signalsOf(stack, { from: `10.1.${Script.#networks++}.1`, country: 'DE' }) };
  }

  async openSession(): Promise<void> {
    const { challenge, pow, probes } = (await this.#session({})) as unknown as SessionChallenge;
    const environment = withAnswers(PERSONS_BROWSER, probes);
    await this.#session({ challenge, solution: this.#solved(pow), environment, work: true });
  }

  /** `false`: no further piece is due. One that is due is asked for after requests. */
  async work(): Promise<boolean> {
    if (this.#next === undefined) await this.#session({ work: true });
    if (this.#next === undefined) return false;
    const { challenge, pow } = this.#next;
    await this.#session({ challenge, solution: this.#solved(pow), work: true });
    this.pieces += 1;
    return true;
  }

  async buyClearance(): Promise<void> {
    const { challenge, pow } = await this.#post<ChallengeResponse>('challenge', { action: 'clearance' });
    const { token } = await this.#post<{ token: string }>('solution', { challenge, solution: this.#solved(pow!) });
    await this.#post('verify', { token });
  }

  /** Requests that the site answered until one was not. */
  async answered(path: string): Promise<number> {
    for (let count = 0; count < REQUESTS_MAX; count++) {
      const response = await browse(this.#edgeUrl + path, { headers: this.#sent() });
      await response.arrayBuffer();
      if (response.status !== 200) return count;
    }
    return REQUESTS_MAX;
  }

  /** Since the last call. */
  spentMs(): number {
    const spent = this.solvingMs - this.#spentBeforeMs;
    this.#spentBeforeMs = this.solvingMs;
    return spent;
  }

  #solved({ n = '', x = '', t = 0 }: PowTask): { y: string } {
    const before = process.cpuUsage();
    const y = squaredNatively({ n, x, t });
    const { user, system } = process.cpuUsage(before);
    this.solvingMs += (user + system) / 1000;
    return { y };
  }

  async #session(page: object): Promise<{ work?: SessionChallenge }> {
    const answer = await this.#post<{ work?: SessionChallenge }>('session', page);
    this.#next = answer.work;
    return answer;
  }

  #sent(): Record<string, string> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return cookie === '' ? this.#headers : { ...this.#headers, cookie };
  }

  async #post<Body>(call: string, page: object): Promise<Body> {
    const response = await browse(`${this.#edgeUrl}/__protect/${call}`, {
      method: 'POST',
      headers: { ...this.#sent(), 'content-type': 'application/json' },
      body: JSON.stringify(page),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      this.#cookies.set(name, value);
    }
    const body = (await response.json()) as Body;
    if (response.status !== 200) throw new Error(`${call}: ${response.status} ${JSON.stringify(body)}`);
    return body;
  }
}
