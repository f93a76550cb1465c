/** `gatehouse login` and `gatehouse logout`: the service that commands call without flags. */
import { command, type Commands } from '../command.ts';
import { CallError, call, checkedServiceUrl } from '../management-call.ts';
import { printable } from '../printable.ts';
import { readKey } from './read-key.ts';
import { loginPath, removeLogin, saveLogin } from './saved-login.ts';

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
    await call({ serviceUrl, apiKey, siteKey: undefined }, '/protect/instances', {});
  } catch (error) {
    if (error instanceof CallError && error.status === 403) return;
    throw error;
  }
}
