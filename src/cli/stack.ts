/**
 * The whole system on this machine (design 10): demo origin, edge in front of it, service, seeded account.
 * Edge and service run in workerd processes of their own, as they run apart in production, so that one
 * can be stopped or restarted under the other. Tests and benchmarks start it from here, people by `npm start`.
 */
import { startControl } from './control.ts';
import type { Control } from './control.ts';
import { startDemoOrigin } from './demo-origin.ts';
import type { DemoOrigin } from './demo-origin.ts';
import { startEdgeWorker } from './edge-worker.ts';
import type { EdgeWorker } from './edge-worker.ts';
import { listen } from './listener.ts';
import type { Listener } from './listener.ts';
import { migrate } from './migrations.ts';
import { clientJwt, seeded } from './seed.ts';
import { startServiceWorker } from './service-worker.ts';
import type { ServiceWorker } from './service-worker.ts';
import { StateDir } from './state.ts';
import type { StackFacts } from './state.ts';
import { rootKey } from '../store/keys/root-key.ts';

/** Cloudflare's shortest schedule is a minute; nobody waits that long for a local rule. */
const SCHEDULE_INTERVAL_MS = 2000;
/** A Worker that did not answer by then never will. */
const READY_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 25;

export interface StackOptions {
  /** Edge here, service one above, origin two above. */
  portBase?: number;
  /** A real origin instead of the demo one. */
  origin?: string;
  /** Forget the state directory's content. */
  fresh?: boolean;
  stateDir?: string;
  quiet?: boolean;
  /** Variables and secrets over those of the stack: failure modes, another SERVICE_URL, a broken secret. */
  edgeVars?: Record<string, string>;
  serviceVars?: Record<string, string>;
  /** Fire scheduled runs by itself; tests that count them say no and call `runScheduled`. */
  schedule?: boolean;
}

export class PortBusyError extends Error {
  constructor(port: number) {
    super(`Port ${port} is in use. Stop what listens there, or give another --port-base.`);
    this.name = 'PortBusyError';
  }
}

export interface Stack extends StackFacts {
  stateDir: string;
  /** One scheduled run of both Workers. */
  runScheduled(): Promise<void>;
  /** Nothing listens on the service's port until `startService`. */
  stopService(): Promise<void>;
  startService(): Promise<void>;
  /** Bodies of the messages that the verdict queue offered while the service was stopped. */
  undelivered(): unknown[];
  /** A new isolate: memory is gone, storage stays. `vars` are laid over the stack's for good. */
  restartEdge(vars?: Record<string, string>): Promise<void>;
  /** What every seal and key of the service is made from. */
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
  #edge: EdgeWorker | null = null;
  #service: ServiceWorker | null = null;
  #control: Control | null = null;
  #timer: NodeJS.Timeout | null = null;
  #facts: StackFacts | null = null;
  readonly #undelivered = new Map<string, unknown>();

  constructor(options: StackOptions) {
    this.#options = options;
    this.#state = new StateDir(options.stateDir ?? '.gatehouse');
    this.#edgePort = options.portBase ?? 8800;
    this.#servicePort = this.#edgePort + 1;
    this.#originPort = this.#edgePort + 2;
  }

  async start(): Promise<void> {
    // Ports first: a stack that cannot listen must not touch another one's state.
    this.#edgeListener = await onPort(this.#edgePort, () => listen(this.#edgePort));
    this.#serviceListener = await onPort(this.#servicePort, () => listen(this.#servicePort));
    const { origin } = this.#options;
    if (origin === undefined) this.#origin = await onPort(this.#originPort, () => startDemoOrigin(this.#originPort));
    this.#state.claim(this.#options.fresh ?? false);
    this.#claimed = true;

    const secrets = this.#state.secrets();
    this.#edgeListener.signalsSecret = secrets.signalsSecret;
    const service = await this.#bootService();
    const seed = await seeded(this.#state, { DB: service.database, MASTER_KEY: secrets.masterKey });
    const jwt = await clientJwt(this.#state, seed, this.#serviceUrl);
    this.#edgeVars = {
      SERVICE_URL: this.#serviceUrl,
      ORIGIN_URL: origin?.replace(/\/+$/, '') ?? `http://127.0.0.1:${this.#originPort}`,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: secrets.signalsSecret,
      OPS_TOKEN: secrets.opsToken,
      CLIENT_JWT: jwt,
      // Freshness of 10 s suits a colo; at a desk a rule should bite at once (design 4).
      RULES_POLL_SECONDS: '1',
      RULES_MAX_STALE_SECONDS: '1',
      ...this.#options.edgeVars,
    };
    await this.#bootEdge();
    this.#facts = {
      pid: process.pid,
      edgeUrl: this.#edgeUrl,
      serviceUrl: this.#serviceUrl,
      originUrl: origin ?? `http://127.0.0.1:${this.#originPort}`,
      accountId: seed.accountId,
      ownerEmail: seed.ownerEmail,
      apiKey: seed.apiKey,
      siteKey: seed.siteKey,
      secretKey: seed.secretKey,
      instanceId: seed.instanceId,
      clientJwt: jwt,
      signalsSecret: secrets.signalsSecret,
      opsToken: secrets.opsToken,
    };
    // The scheduled run writes the last known good config: an outage in the first seconds finds one.
    await this.#runScheduled();
    this.#control = await startControl(() =>
      this.#service === null ? null : { DB: this.#service.database, MASTER_KEY: secrets.masterKey },
    );
    this.#state.openControl(this.#control.address);
    if (this.#options.schedule ?? true) this.#schedule();
    this.#state.publish(this.#facts);
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
        this.#serviceListener ??= await onPort(this.#servicePort, () => listen(this.#servicePort));
        if (this.#service === null) await this.#bootService();
      },
      undelivered: () => [...this.#undelivered.values()],
      restartEdge: async (vars = {}) => {
        Object.assign(this.#edgeVars, vars);
        await this.#stopEdge();
        await this.#bootEdge();
      },
      rootKey: async () => {
        if (this.#service === null) throw new Error('The service is stopped');
        return rootKey({ DB: this.#service.database, MASTER_KEY: this.#state.secrets().masterKey });
      },
      stop: () => this.stop(),
    };
  }

  async stop(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#control?.close();
    this.#control = null;
    await Promise.all([this.#stopEdge(), this.#stopService()]);
    await Promise.all([this.#edgeListener?.close(), this.#origin?.close()]);
    this.#edgeListener = null;
    this.#origin = null;
    if (this.#claimed) this.#state.release();
    this.#claimed = false;
  }

  get #edgeUrl(): string {
    return `http://127.0.0.1:${this.#edgePort}`;
  }

  get #serviceUrl(): string {
    return `http://127.0.0.1:${this.#servicePort}`;
  }

  async #bootService(): Promise<ServiceWorker> {
    const { masterKey, opsToken } = this.#state.secrets();
    const service = await startServiceWorker({
      storage: this.#state.storage('service'),
      quiet: this.#options.quiet ?? false,
      vars: { SERVICE_URL: this.#serviceUrl, MASTER_KEY: masterKey, OPS_TOKEN: opsToken, ...this.#options.serviceVars },
    });
    this.#service = service;
    await migrate(service.database);
    if (this.#serviceListener) this.#serviceListener.target = service.url;
    await answers(`${this.#serviceUrl}/health`);
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
      consume: async (batch) => {
        if (this.#service) return this.#service.consume(batch);
        for (const { id, body } of batch.messages) this.#undelivered.set(id, body);
        return null;
      },
    });
    if (this.#edgeListener) this.#edgeListener.target = this.#edge.url;
    await answers(`${this.#edgeUrl}/__protect/health`);
  }

  async #stopEdge(): Promise<void> {
    const edge = this.#edge;
    this.#edge = null;
    if (this.#edgeListener) this.#edgeListener.target = null;
    await edge?.dispose();
  }

  async #runScheduled(): Promise<void> {
    // A run that fails must not stop the next one; the Worker has logged why.
    await Promise.allSettled([this.#service?.runScheduled(), this.#edge?.runScheduled()]);
  }

  /** The next run is set when the last has ended: runs never pile up. */
  #schedule(): void {
    this.#timer = setTimeout(() => {
      void this.#runScheduled().finally(() => {
        if (this.#timer) this.#schedule();
      });
    }, SCHEDULE_INTERVAL_MS);
  }
}

async function onPort<Value>(port: number, open: () => Promise<Value>): Promise<Value> {
  try {
    return await open();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw new PortBusyError(port);
    throw error;
  }
}

/** Waits until `url` answers anything but a failure of the listener. */
async function answers(url: string): Promise<void> {
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
  throw new Error(`${url} did not answer: ${last.slice(0, 500)}`);
}
