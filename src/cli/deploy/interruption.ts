/**
 * What a command undoes when it is ended by Ctrl-C or a signal: a file with secrets, wrangler, the lease. A signal runs
 * no `finally`.
 */
const undone = new Set<() => unknown>();

/** @returns what to call when there is nothing to undo any more. */
export function undoneWhenInterrupted(undo: () => unknown): () => void {
  undone.add(undo);
  return () => void undone.delete(undo);
}

/** The numbers of a shell: 128 and the signal. */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** For the process that runs one command. A second signal ends it at once. */
export function endOnSignals(): void {
  for (const [signal, code] of Object.entries(EXIT_CODES)) {
    process.once(signal, () => {
      // The last begun is the first undone, and what needs no network is done before this returns.
      const all = [...undone].toReversed().map(async (undo) => undo());
      void Promise.allSettled(all).finally(() => process.exit(code));
    });
  }
}
