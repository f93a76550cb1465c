/**
 * `npm run bench -- price`: what pages and answers cost a script that has one session with an invented report and never loads
 * a page. It runs against the local stack at its defaults. Work is solved natively, by OpenSSL; only the time of the
 * solving counts, so that the figures are a lower bound of what a script pays.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Stack, startStack } from '../src/cli/stack.ts';
import type { SessionChallenge } from '../src/contract/captcha/challenge-api.ts';
import { riskDetectors } from '../src/contract/edge/risk-detectors.ts';
import { signalsOf } from '../test/e2e/edge-visitor.ts';
import { browse } from '../test/support/browse.ts';
import { squaredNatively } from '../test/support/native-squarings.ts';
import { withAnswers } from '../test/support/probe-answers.ts';
import { PERSONS_BROWSER, personsHeaders } from '../test/support/session.ts';
import { rounded } from './measure/statistics.ts';

const PORT_BASE = 18_940;
const PIECES_OF_ALLOWANCES = [8, 24, 56];
/** More than any session gets. */
const REQUESTS_MAX = 3000;
/** Decided by the price alone: what a script writes about itself is assumed to be perfect. */
const seedChanges = { policy: { ignoredDetectors: [...riskDetectors] } };

export async function run(): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-price-'));
  const stack = await startStack({ portBase: PORT_BASE, stateDir, quiet: true, fresh: true, seedChanges });
  try {
    console.table({ ...(await rowsOf(stack, 'pages', '/')), ...(await rowsOf(stack, 'answers', '/api/time')) });
  } finally {
    await stack.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function rowsOf(stack: Stack, what: string, path: string): Promise<Record<string, object>> {
  const script = await Script.withSession(stack);
  const rows: Record<string, object> = {};
  const add = (name: string, count: number): void => {
    rows[`${what}: ${name}`] = {
      'in all': (script.total += count),
      'CPU-seconds in all': rounded(script.solvingMs / 1000, 3),
      'per CPU-second, in all': Math.round((script.total * 1000) / script.solvingMs),
      'per CPU-second, of these': Math.round((count * 1000) / script.spentMs()),
    };
  };
  add('free, for the price of a session', await script.answered(path));
  for (const [at, pieces] of PIECES_OF_ALLOWANCES.entries()) {
    let count = 0;
    while (script.pieces < pieces) {
      // Work is due until a quarter of an allowance lies ahead.
      while (script.pieces < pieces && (await script.work()));
      count += await script.answered(path);
    }
    add(`allowance ${at + 1}, up to ${pieces} pieces of work`, count);
  }
  return rows;
}

/** A program without a browser, in a network of its own. */
class Script {
  static #networks = 0;
  readonly #edgeUrl: string;
  readonly #headers: Record<string, string>;
  #next: SessionChallenge | undefined;
  #spentBeforeMs = 0;
  solvingMs = 0;
  pieces = 0;
  total = 0;

  private constructor(stack: Stack) {
    this.#edgeUrl = stack.edgeUrl;
    this.#headers = { ...personsHeaders, ...signalsOf(stack, { from: `10.1.${Script.#networks++}.1`, country: 'DE' }) };
  }

  static async withSession(stack: Stack): Promise<Script> {
    const script = new Script(stack);
    const challenge = (await script.#post({})) as unknown as SessionChallenge;
    const environment = withAnswers(PERSONS_BROWSER, challenge.probes);
    await script.#post({ ...script.#solved(challenge), environment, work: true });
    return script;
  }

  /** `false`: no further piece is due. One that is due is asked for after requests. */
  async work(): Promise<boolean> {
    if (this.#next === undefined) await this.#post({ work: true });
    if (this.#next === undefined) return false;
    await this.#post({ ...this.#solved(this.#next), work: true });
    this.pieces += 1;
    return true;
  }

  /** Requests that the site answered until one was not. */
  async answered(path: string): Promise<number> {
    for (let count = 0; count < REQUESTS_MAX; count++) {
      const response = await browse(this.#edgeUrl + path, { headers: this.#headers });
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

  #solved({ challenge, pow: { n = '', x = '', t = 0 } }: SessionChallenge): object {
    const before = process.cpuUsage();
    const y = squaredNatively({ n, x, t });
    const { user, system } = process.cpuUsage(before);
    this.solvingMs += (user + system) / 1000;
    return { challenge, solution: { y } };
  }

  async #post(page: object): Promise<Record<string, unknown>> {
    const response = await browse(`${this.#edgeUrl}/__protect/session`, {
      method: 'POST',
      headers: { ...this.#headers, 'content-type': 'application/json' },
      body: JSON.stringify(page),
    });
    const cookie = response.headers.getSetCookie()[0]?.split(';', 1)[0];
    if (cookie !== undefined) this.#headers['cookie'] = cookie;
    const body = (await response.json()) as { work?: SessionChallenge };
    if (response.status !== 200) throw new Error(`session: ${response.status} ${JSON.stringify(body)}`);
    this.#next = body.work;
    return body;
  }
}
