/**
 * The whole system on one machine: demo origin, edge in front of it, service, seeded account. Edge and service run in
 * separate workerd processes, as in production, so that each can be stopped or restarted while the other runs. Tests and
 * benchmarks call this module, people use `npm start`.
 */
import { rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { rootKey } from '../store/keys/root-key.ts';
import { startBotNetworks, type BotNetworks } from './bot-networks.ts';
import { startControl, type Control } from './control.ts';
import { startDemoOrigin, type DemoOrigin } from './demo/origin.ts';
import { startEdgeWorker, type EdgeWorker } from './edge-worker.ts';
import { OperatorError } from './failure.ts';
import { drainVerdicts, listen, type ListenHost, type Listener } from './listener.ts';
import { migrate } from './migrations.ts';
import { Schedule } from './schedule.ts';
import { clientJwt, seedAccount, seeded, type AccountSeed } from './seed.ts';
import { startServiceWorker, type ServiceWorker } from './service-worker.ts';
import { signInUrl } from './sign-in.ts';
import { DEFAULT_STATE, stateFlag } from './print/printed-command.ts';
import { mismatch } from './state-files.ts';
import { StateDir, type Seed, type StackFacts } from './state.ts';
import { bundleForStack } from './worker-config.ts';

/** A Worker that does not respond within this time has failed to start. */
const READY_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 25;

/** What differs between two accounts of one stack. */
export interface AccountOptions extends AccountSeed {
  /** Variables and secrets of the edge that replace those of the stack, such as failure modes or a broken secret. */
  edgeVars?: Record<string, string>;
  /** Whether scheduled runs start by themselves. Tests that count them use `false` and call `runScheduled`. */
  schedule?: boolean;
}

/** The owner and the changes of the seed are for tests, and count when the directory is new. */
export interface StackOptions extends AccountOptions {
  /** Port of the edge. The service uses the next one, the origin the one after. */
  portBase?: number;
  /** Where gate and service listen. Everything else stays on 127.0.0.1: the origin, and the commands' way in. */
  host?: ListenHost;
  /** URL of a real origin. It replaces the demo site. */
  origin?: string;
  /** Deletes the content of the state directory first. */
  fresh?: boolean;
  stateDir?: string;
  quiet?: boolean;
  /** The same for the service. */
  serviceVars?: Record<string, string>;
  /** For tests: Workers that are bundled already, by their entry. */
  bundle?: (entry: string) => Promise<string>;
}

export class PortBusyError extends OperatorError {
  constructor(port: number) {
    super(`Port ${port} is in use. Stop the program that uses it, or choose other ports with --port-base.`);
  }
}

export interface Stack extends StackFacts {
  stateDir: string;
  /** One scheduled run of both Workers. @returns whether the edge's did its work: KV has what the service has. */
  runScheduled(): Promise<boolean>;
  /** Closes the service's port until `startService`. */
  stopService(): Promise<void>;
  startService(): Promise<void>;
  /** Bodies of the messages that the verdict queue tried to deliver while the service was stopped, or did not respond. */
  undelivered(): unknown[];
  /** Starts a new isolate: memory is empty, storage stays. `vars` replace those of the stack from now on. */
  restartEdge(vars?: Record<string, string>): Promise<void>;
  /**
   * For tests: another account with an instance, a site and a key of its own, which the edge serves from now on, with
   * empty memory and storage. The service runs on, and keeps the accounts before it.
   */
  openAccount(account: AccountOptions): Promise<Stack>;
  /** The key that every seal and key of the service is derived from. */
  rootKey(): Promise<string>;
  stop(): Promise<void>;
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const stack = new LocalStack(options);
  try {
    await stack.start();
  } catch (error) {
    await stack.stop();
    throw error;
  }
  return stack.handle();
}

class LocalStack {
  readonly #options: StackOptions;
  readonly #state: StateDir;
  readonly #edgePort: number;
  readonly #servicePort: number;
  readonly #originPort: number;
  #claimed = false;
  #edgeVars: Record<string, string> = {};
  #edgeListener: Listener | null = null;
  #serviceListener: Listener | null = null;
  #origin: DemoOrigin | null = null;
  #botNetworks: BotNetworks | null = null;
  #edge: EdgeWorker | null = null;
  #service: ServiceWorker | null = null;
  #control: Control | null = null;
  #facts: StackFacts | null = null;
  readonly #schedule = new Schedule(() => this.#runScheduled());
  readonly #undelivered = new Map<string, unknown>();

  constructor(options: StackOptions) {
    this.#options = options;
    this.#state = new StateDir(options.stateDir ?? DEFAULT_STATE);
    this.#edgePort = options.portBase ?? 8800;
    this.#servicePort = this.#edgePort + 1;
    this.#originPort = this.#edgePort + 2;
  }

  async start(): Promise<void> {
    // Ports first, because a stack that cannot listen must not touch the state of another one.
    this.#edgeListener = await this.#listen(this.#edgePort);
    this.#serviceListener = await this.#listen(this.#servicePort);
    await this.#startOrigin();
    this.#botNetworks = await startBotNetworks();
    await this.#state.claimOrReach('stack', this.#options.fresh);
    this.#claimed = true;

    const secrets = this.#state.secrets();
    this.#edgeListener.signalsSecret = secrets.signalsSecret;
    const service = await this.#bootService();
    const store = { DB: service.database, MASTER_KEY: secrets.masterKey };
    await rootKey(store).catch(() => {
      throw mismatch(this.#state.path, 'secrets.json');
    });
    const facts = await this.#serve(service, await seeded(this.#state, store, this.#options), this.#options.edgeVars);
    this.#control = await startControl(async () => {
      const running = this.#service;
      if (running === null || !(await running.responds())) return null;
      this.#schedule.called();
      const { masterKey: MASTER_KEY } = secrets;
      return { DB: running.database, SEGMENTS: running.segments, MASTER_KEY, serviceUrl: this.#serviceUrl };
    });
    this.#state.openControl(this.#control.address);
    if (this.#options.schedule ?? true) this.#schedule.start();
    this.#state.publish(facts);
  }

  handle(): Stack {
    const facts = this.#facts;
    if (facts === null) throw new Error('The stack is not started');
    return {
      ...facts,
      stateDir: this.#state.path,
      runScheduled: () => this.#runScheduled(),
      stopService: () => this.#stopService(),
      startService: async () => {
        await this.#startService();
      },
      undelivered: () => [...this.#undelivered.values()],
      restartEdge: async (vars = {}) => {
        Object.assign(this.#edgeVars, vars);
        await this.#stopEdge();
        await this.#bootEdge();
      },
      openAccount: (account) => this.#openAccount(account),
      rootKey: async () => {
        if (this.#service === null) throw new Error('The service is stopped');
        return rootKey({ DB: this.#service.database, MASTER_KEY: this.#state.secrets().masterKey });
      },
      stop: () => this.stop(),
    };
  }

  async stop(): Promise<void> {
    this.#schedule.stop();
    await this.#control?.close();
    this.#control = null;
    if (this.#edgeListener && this.#serviceListener) await drainVerdicts(this.#edgeListener, this.#serviceListener);
    // An edge that is still there would miss the service, and say so.
    await this.#stopEdge();
    await this.#stopService();
    await Promise.all([this.#edgeListener?.close(), this.#origin?.close(), this.#botNetworks?.close()]);
    this.#edgeListener = null;
    this.#origin = null;
    this.#botNetworks = null;
    if (this.#claimed) this.#state.release();
    this.#claimed = false;
  }

  async #openAccount(account: AccountOptions): Promise<Stack> {
    this.#schedule.stop();
    await this.#stopEdge();
    // Parts in KV and in the cache do not say whose they are.
    rmSync(this.#state.storage('edge'), { recursive: true, force: true });
    this.#undelivered.clear();
    await this.#origin?.close();
    await this.#startOrigin();
    const service = await this.#startService();
    const store = { DB: service.database, MASTER_KEY: this.#state.secrets().masterKey };
    const facts = await this.#serve(service, await seedAccount(this.#state, store, account), account.edgeVars);
    if (account.schedule ?? true) this.#schedule.start();
    this.#state.publish(facts);
    return this.handle();
  }

  /** Starts the edge of a seeded account's instance. */
  async #serve(service: ServiceWorker, seed: Seed, edgeVars: Record<string, string> = {}): Promise<StackFacts> {
    const secrets = this.#state.secrets();
    const jwt = await clientJwt(this.#state, seed, this.#serviceUrl);
    this.#edgeVars = {
      SERVICE_URL: this.#serviceUrl,
      ORIGIN_URL: this.#originUrl.replace(/\/+$/, ''),
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: secrets.signalsSecret,
      OPS_TOKEN: secrets.opsToken,
      CLIENT_JWT: jwt,
      // Production polls every 5 seconds. A developer expects a rule to take effect at once.
      RULES_POLL_SECONDS: '1',
      RULES_MAX_STALE_SECONDS: '1',
      ...edgeVars,
    };
    await this.#warmUp(jwt);
    await this.#bootEdge();
    const store = { DB: service.database, MASTER_KEY: secrets.masterKey };
    const link = await signInUrl(store, this.#serviceUrl, { email: seed.ownerEmail, accountId: null }, Date.now());
    const facts = {
      pid: process.pid,
      edgeUrl: this.#edgeUrl,
      serviceUrl: this.#serviceUrl,
      consoleUrl: new URL('/console', link.url).href,
      signInUrl: link.url,
      originUrl: this.#originUrl,
      ...seed,
      clientJwt: jwt,
      signalsSecret: secrets.signalsSecret,
      opsToken: secrets.opsToken,
    };
    // The scheduled run writes the last known good configuration, so that an outage in the first seconds finds one.
    await this.#runScheduled();
    this.#facts = facts;
    return facts;
  }

  /**
   * The first answers of a service that has just started are slow. An edge that waited for them would count it as down, and
   * the console would say so.
   */
  async #warmUp(jwt: string): Promise<void> {
    for (const path of ['version?bots', 'config']) {
      const headers = { authorization: `Bearer ${jwt}` };
      await (await fetch(`${this.#serviceUrl}/edge/v1/${path}`, { headers })).arrayBuffer();
    }
  }

  get #edgeUrl(): string {
    return `http://127.0.0.1:${this.#edgePort}`;
  }

  get #serviceUrl(): string {
    return `http://127.0.0.1:${this.#servicePort}`;
  }

  get #originUrl(): string {
    return this.#options.origin ?? `http://127.0.0.1:${this.#originPort}`;
  }

  async #listen(port: number): Promise<Listener> {
    const ended = (request: IncomingMessage): void => {
      if (!isEdgeRead(request)) this.#schedule.called();
    };
    return onPort(port, () => listen(port, this.#options.host, ended));
  }

  /** It counts from zero. */
  async #startOrigin(): Promise<void> {
    if (this.#options.origin !== undefined) return;
    const consoleUrl = `http://localhost:${this.#servicePort}/console`;
    const gate = { url: this.#edgeUrl, consoleUrl, stateFlag: stateFlag(this.#state.path) };
    this.#origin = await onPort(this.#originPort, () => startDemoOrigin(this.#originPort, gate));
  }

  async #startService(): Promise<ServiceWorker> {
    this.#serviceListener ??= await this.#listen(this.#servicePort);
    return this.#service ?? this.#bootService();
  }

  async #bootService(): Promise<ServiceWorker> {
    const { masterKey } = this.#state.secrets();
    const service = await startServiceWorker({
      storage: this.#state.storage('service'),
      quiet: this.#options.quiet ?? false,
      vars: {
        SERVICE_URL: this.#serviceUrl,
        MASTER_KEY: masterKey,
        BOT_RANGES_BASE: this.#botNetworks?.url ?? '',
        // Lists, webhooks and agents' directories on this machine, unless strangers can reach the stack.
        LOOPBACK_HOSTS: this.#options.host === '0.0.0.0' ? '' : 'allow',
        ...this.#options.serviceVars,
      },
      bundle: this.#options.bundle ?? bundleForStack,
      onRestart: () => this.#keepRuntimes(),
    });
    this.#service = service;
    this.#keepRuntimes();
    await migrate(service.database);
    if (this.#serviceListener) this.#serviceListener.target = service.url;
    await waitUntilReady(`${this.#serviceUrl}/health`);
    return service;
  }

  async #stopService(): Promise<void> {
    const service = this.#service;
    const listener = this.#serviceListener;
    this.#service = null;
    this.#serviceListener = null;
    await listener?.close();
    await service?.dispose();
  }

  async #bootEdge(): Promise<void> {
    this.#edge = await startEdgeWorker({
      storage: this.#state.storage('edge'),
      quiet: this.#options.quiet ?? false,
      vars: this.#edgeVars,
      bundle: this.#options.bundle ?? bundleForStack,
      consume: async (batch) => {
        this.#schedule.called();
        const outcome = this.#service && (await this.#service.consume(batch));
        if (outcome) return outcome;
        for (const { id, body } of batch.messages) this.#undelivered.set(id, body);
        return null;
      },
      onRestart: () => this.#keepRuntimes(),
    });
    this.#keepRuntimes();
    if (this.#edgeListener) this.#edgeListener.target = this.#edge.url;
    await waitUntilReady(`${this.#edgeUrl}/__protect/health`);
  }

  /** The next stack on the directory ends them, if this one is killed. */
  #keepRuntimes(): void {
    if (this.#claimed) this.#state.keepRuntimes('stack');
  }

  async #stopEdge(): Promise<void> {
    const edge = this.#edge;
    this.#edge = null;
    if (this.#edgeListener) this.#edgeListener.target = null;
    await edge?.dispose();
  }

  async #runScheduled(): Promise<boolean> {
    // A failed run must not stop the next one. The Worker logs the reason.
    // The service comes first: it compiles what the edge copies.
    await this.#service?.runScheduled().catch(() => {});
    return (await this.#edge?.runScheduled().catch(() => false)) === true;
  }
}

/** Edges poll, and read in every scheduled run. Neither changes anything. */
function isEdgeRead({ method, url = '' }: IncomingMessage): boolean {
  return method === 'GET' && url.startsWith('/edge/');
}

async function onPort<Value>(port: number, open: () => Promise<Value>): Promise<Value> {
  try {
    return await open();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw new PortBusyError(port);
    throw error;
  }
}

/** Waits until `url` returns a status below 500. */
async function waitUntilReady(url: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  let last = '';
  while (Date.now() < deadline) {
    try {
      const response = await fetch(url, { redirect: 'manual' });
      last = `${response.status} ${await response.text()}`;
      if (response.status < 500) return;
    } catch (error) {
      last = String(error);
    }
    await new Promise((wake) => setTimeout(wake, READY_POLL_MS));
  }
  throw new Error(
    `${url} did not start within ${READY_TIMEOUT_MS / 1000} seconds. Last response: ${last.slice(0, 500)}`,
  );
}
