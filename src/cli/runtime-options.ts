/** What both simulators of the local stack share: where they keep state, where their Workers log, and how they come back. */
import { Log, LogLevel, Miniflare, type MiniflareOptions } from 'miniflare';

/** What workerd warns of: on Workers, a promise ends with the request that made it. */
export const SHARED_PROMISE = 'resolved or rejected from a different request context';
/** The warnings of this process about it, for tests. Each is a fault that can hang a visitor's request. */
export const sharedPromises: string[] = [];

/** `quiet`: errors only. */
export function runtimeOptions(name: string, storage: string, quiet: boolean): Omit<MiniflareOptions, 'workers'> {
  return {
    // The simulator's own socket is unused. Visitors connect to the stack's listener.
    host: '127.0.0.1',
    port: 0,
    resourcePersistencePath: storage,
    telemetry: { enabled: false },
    logRequests: false,
    cf: false,
    log: new Log(quiet ? LogLevel.ERROR : LogLevel.WARN),
    handleStructuredLogs: ({ level, message }) => {
      if (message.includes(SHARED_PROMISE)) sharedPromises.push(`${name}: ${message}`);
      if (!quiet || level === 'error') process.stderr.write(`${name} ${level}: ${message}\n`);
    },
  };
}

/** A simulator, and what is used of it. */
export interface Runtime<Parts> {
  parts(): Parts;
  dispose(): Promise<void>;
}

/**
 * Starts a simulator. It starts its workerd again by itself when that ends, and what `take` took before is then of no use:
 * it is taken again. `onRestart` is called when it is there.
 */
export async function startRuntime<Parts>(
  options: MiniflareOptions,
  take: (miniflare: Miniflare) => Promise<Parts>,
  onRestart: () => void = () => {},
): Promise<Runtime<Parts>> {
  const miniflare = new Miniflare({
    ...options,
    unsafeHandleRuntimeRestart: async () => {
      parts = await take(miniflare);
      onRestart();
    },
  });
  let parts = await take(miniflare);
  return { parts: () => parts, dispose: () => miniflare.dispose() };
}
