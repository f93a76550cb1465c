/**
 * What a deployment does beside calling the platform: it speaks, waits, asks, resolves names, builds what the Workers
 * carry, and runs wrangler.
 */
import { execFileSync } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../failure.ts';
import { DEPLOY_FOLDER } from './names.ts';
import { type Upload, uploadWithWrangler } from './wrangler.ts';
import { isInPublicDns, type PublicDns } from './zone.ts';

export interface World extends PublicDns {
  /** Where files are generated. */
  folder: string;
  /** A person reads what is said, and no log keeps it. */
  isTerminal: boolean;
  say(line: string): void;
  /** Why the command ends without success. */
  complain(message: string): void;
  pause(ms: number): Promise<void>;
  /** `null` where nobody can be asked. */
  ask(question: string): Promise<string | null>;
  /** Makes the browser code and the documentation, which the Workers carry. */
  build(): void;
  upload(upload: Upload): Promise<void>;
}

const BUILDS = ['scripts/build-client.ts', 'scripts/build-console.ts', 'scripts/build-docs.ts'];

export const terminal: World = {
  folder: DEPLOY_FOLDER,
  isTerminal: process.stdout.isTTY,
  say: (line) => process.stdout.write(`${line}\n`),
  complain: (message) => process.stderr.write(`${message}\n`),
  pause: (ms) => sleep(ms),
  build: () => {
    for (const script of BUILDS) {
      try {
        execFileSync(process.execPath, [script], { stdio: ['ignore', 'ignore', 'inherit'] });
      } catch {
        throw new OperatorError(`${script} failed. Correct what it says above, and run the command again.`);
      }
    }
  },
  upload: uploadWithWrangler,
  isInPublicDns,
  ask: async (question) => {
    if (!process.stdin.isTTY) return null;
    const reader = createInterface({ input: process.stdin, output: process.stdout });
    try {
      return await reader.question(question);
    } finally {
      reader.close();
    }
  },
};
