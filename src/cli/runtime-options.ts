/** Options that both simulators of the local stack share: where they keep state, and where their Workers log. */
import { Log, LogLevel } from 'miniflare';
import type { MiniflareOptions } from 'miniflare';

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
      if (!quiet || level === 'error') process.stderr.write(`${name} ${level}: ${message}\n`);
    },
  };
}
