/** The command line inside the test's process: the same run as `npm run gatehouse`, without a process for each command. */
import { Readable, Writable } from 'node:stream';
import { main } from '../../src/cli/main.ts';
import { GATEHOUSE_VERSION } from '../../src/contract/version.ts';

export interface Ran {
  exitCode: number;
  /** Standard output, without the last line break. */
  output: string;
  errors: string;
}

export interface RunSettings {
  /** Directory of the local stack. */
  state?: string;
  env?: Record<string, string>;
  /** A terminal of so many columns. Without it, the output is a file. */
  columns?: number;
  /** Standard error is a terminal. */
  showsProgress?: boolean;
  /** Standard input. */
  stdin?: string;
  /** Somebody types it, at a terminal. */
  isTyped?: boolean;
  /** Ctrl-C. */
  signal?: AbortSignal;
  hasRepository?: boolean;
  version?: string;
  /** Called with everything that is written to standard output. */
  onOutput?(text: string): void;
}

export async function gatehouse(words: readonly string[], settings: RunSettings = {}): Promise<Ran> {
  const written = { output: '', errors: '' };
  const isTerminal = { output: settings.columns !== undefined, errors: settings.showsProgress === true };
  const into = (name: keyof typeof written) =>
    Object.assign(
      new Writable({
        write(chunk: Buffer, _, done) {
          written[name] += chunk.toString();
          if (name === 'output') settings.onOutput?.(chunk.toString());
          done();
        },
      }),
      isTerminal[name] ? { isTTY: true, columns: settings.columns ?? 80 } : {},
    );
  const target = settings.state === undefined ? [] : ['--state', settings.state];
  const exitCode = await main([...words, ...target], {
    stdin: Object.assign(Readable.from(settings.stdin === undefined ? [] : [settings.stdin]), {
      isTTY: settings.isTyped === true,
    }),
    stdout: into('output'),
    stderr: into('errors'),
    env: settings.env ?? {},
    program: 'gatehouse',
    version: settings.version ?? GATEHOUSE_VERSION,
    hasRepository: settings.hasRepository ?? true,
    interrupted: () => settings.signal ?? new AbortController().signal,
  });
  return { exitCode, output: written.output.replace(/\n$/, ''), errors: written.errors.replace(/\n$/, '') };
}
