/** `gatehouse login` and `gatehouse logout`: the service that commands call without flags. */
import { createInterface } from 'node:readline/promises';
import { Writable, type Readable } from 'node:stream';
import { command, type Commands, type Input } from './command.ts';
import { OperatorError } from './failure.ts';
import { CallError, callService, checkedServiceUrl } from './management-call.ts';
import { printable } from './print/printable.ts';
import { loginPath, removeLogin, saveLogin } from './saved-login.ts';

const KEY_MAX_CHARS = 4096;

export const loginCommands: Commands = {
  login: command({
    about:
      'Saves a service and its API key for later commands. The key is read from standard input, checked, and kept in a file that only you can read.',
    example: 'login --service https://gatehouse.example.com < api-key.txt',
    on: 'machine',
    required: { service: 'URL' },
    async run({ values, env, stdin, note }) {
      const serviceUrl = checkedServiceUrl(values['service'] ?? '');
      const apiKey = await readKey(stdin, note);
      await mustBeAccepted(serviceUrl, apiKey);
      return { service: serviceUrl, file: saveLogin(env, { serviceUrl, apiKey }) };
    },
    print: ({ service, file }) => [printable(`Logged in to ${service}. The API key is in ${file}.`)],
  }),
  logout: command({
    about: 'Removes the saved service and its API key. The key itself stays valid until it is deleted.',
    example: 'logout',
    on: 'machine',
    run: async ({ env }) => ({ removed: removeLogin(env), file: loginPath(env) }),
    print: ({ removed, file }) => [removed ? printable(`Removed ${file}.`) : 'There was no saved login.'],
  }),
};

/** A key without the permission to read instances is a good key too. */
async function mustBeAccepted(serviceUrl: string, apiKey: string): Promise<void> {
  try {
    await callService({ serviceUrl, apiKey, siteKey: undefined }, '/protect/instances', {});
  } catch (error) {
    if (error instanceof CallError && error.status === 403) return;
    throw error;
  }
}

/** Never from an argument, which every process of the machine can see. At a terminal it asks, and shows nothing of it. */
async function readKey(stdin: Input, note: (line: string) => void): Promise<string> {
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
