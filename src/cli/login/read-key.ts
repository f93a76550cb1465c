/** Reads an API key from standard input: never from an argument, which every process of the machine can see. */
import { createInterface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';
import { OperatorError } from '../operator-error.ts';

const KEY_MAX_CHARS = 4096;

export type Input = Readable & { isTTY?: boolean };

/** At a terminal it asks, and shows nothing of what is typed. */
export async function readKey(stdin: Input, note: (line: string) => void): Promise<string> {
  const key = (stdin.isTTY === true ? await typed(stdin, note) : await piped(stdin)).trim();
  if (key === '') throw new OperatorError('No API key was given. Send it on standard input, or type it at the prompt.');
  if (key.length > KEY_MAX_CHARS || /\s/.test(key))
    throw new OperatorError('Standard input is not an API key. Send the key alone, on one line.');
  return key;
}

async function typed(stdin: Input, note: (line: string) => void): Promise<string> {
  note('API key (it is not shown):');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
  }
}

async function piped(stdin: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > 2 * KEY_MAX_CHARS) break;
  }
  return text;
}
