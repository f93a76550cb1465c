/** An operator at a terminal: runs deployment commands against the stand-in, and has what they printed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { vi } from 'vitest';
import { runDeployment } from '../../../src/cli/deploy/main.ts';
import type { World } from '../../../src/cli/deploy/world.ts';
import { cheapHosts, fetchWith, type Hosts } from './network.ts';
import { Platform, TOKEN } from './platform.ts';
import { uploadAsWrangler } from './upload-as-wrangler.ts';

export interface Run {
  code: number;
  /** What the command printed. */
  output: string;
  /** What it printed as its error. */
  error: string;
}

export class Operator {
  readonly platform = new Platform();
  /** Checkout-side files and home directory of this operator. */
  readonly home = mkdtempSync(join(tmpdir(), 'gatehouse-operator-'));
  hosts: Hosts = cheapHosts(this.platform);
  upload: World['upload'] = uploadAsWrangler(this.platform);
  /** Given to questions, in turn. `null`: there is no terminal. */
  answers: string[] | null = null;
  /** What public DNS says of any host that this operator asks for. */
  isInPublicDns: boolean | null = false;
  isTerminal = true;
  /** Calls of the platform have no connection, and cost a third. */
  isBesidePlatform = false;
  /** How long a wait takes. */
  pauseMs = 0;

  /** Commands that run at the same time share the stubs. */
  #running = 0;

  get folder(): string {
    return join(this.home, 'deploy');
  }

  async start(): Promise<void> {
    await this.platform.start();
  }

  async stop(): Promise<void> {
    await this.platform.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** `env` replaces variables of the operator's shell. */
  async run(words: readonly string[], env: Record<string, string | undefined> = {}): Promise<Run> {
    const shell = {
      CLOUDFLARE_API_BASE_URL: this.platform.url,
      CLOUDFLARE_API_TOKEN: TOKEN,
      CLOUDFLARE_ACCOUNT_ID: '',
      HOME: this.home,
      XDG_CONFIG_HOME: '',
      MASTER_KEY: '',
      MASTER_KEY_PREVIOUS: '',
      ...env,
    };
    if (this.#running === 0) {
      const local: typeof fetch = this.isBesidePlatform
        ? (input, init) => this.platform.fetch(input, init)
        : globalThis.fetch;
      vi.stubGlobal(
        'fetch',
        fetchWith((url, init) => this.hosts(url, init), local),
      );
    }
    for (const [name, value] of Object.entries(shell)) vi.stubEnv(name, value);
    this.#running += 1;
    const said: string[] = [];
    let error = '';
    try {
      const code = await runDeployment(words, {
        folder: this.folder,
        isTerminal: this.isTerminal,
        say: (line) => said.push(line),
        complain: (message) => (error += message),
        pause: () => sleep(this.pauseMs),
        ask: () => Promise.resolve(this.answers?.shift() ?? null),
        build: () => {},
        upload: (one) => this.upload(one),
        isInPublicDns: () => Promise.resolve(this.isInPublicDns),
      });
      return { code, output: said.join('\n'), error };
    } finally {
      this.#running -= 1;
      if (this.#running === 0) {
        vi.unstubAllEnvs();
        vi.unstubAllGlobals();
      }
    }
  }
}
