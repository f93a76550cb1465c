/**
 * Commands that work on the database itself: accounts, which no endpoint can change, and what an operator needs before
 * the first API key exists. They print JSON, so that scripts can read it.
 */
import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import { emailAddress } from '../contract/management/email-address.ts';
import { featurePermissions, features as allFeatures } from '../contract/management/permissions.ts';
import type { Feature, PermissionMap } from '../contract/management/permissions.ts';
import { accountTiers } from '../contract/vocabulary.ts';
import type { AccountTier } from '../contract/vocabulary.ts';
import { accountById, createAccount, listAccounts, updateAccount } from '../store/d1/accounts.ts';
import { apiKeyToken, apiKeysOfAccount, deleteApiKey } from '../store/d1/api-keys.ts';
import type { StoreEnv } from '../store/binding.ts';
import { instancesOfAccount } from '../store/d1/instances.ts';
import { rotateSiteSecret } from '../store/d1/rotate-site-secret.ts';
import { sitesOfAccount } from '../store/d1/sites.ts';
import { migrate } from './migrations.ts';
import {
  API_KEY_DEFAULT_SECONDS,
  CommandError,
  allPermissions,
  provisionApiKey,
  provisionInstance,
  provisionSite,
} from './provision.ts';
import { resealRootKey, rootKey } from '../store/keys/root-key.ts';

export interface CommandResult {
  exitCode: number;
  output: string;
}

/** Thirty days. A previous secret that stays valid for longer was not rotated. */
const OVERLAP_HOURS_MAX = 720;
const HOUR_MS = 3_600_000;

type Values = Record<string, string | undefined>;

interface Command {
  usage: string;
  /** Flags, all with a value. */
  flags: readonly string[];
  positionals: readonly string[];
  run(env: StoreEnv, values: Values, positionals: readonly string[], nowMs: number): Promise<unknown>;
}

const commands: Record<string, Command> = {
  'account create': {
    usage: '--email ADDRESS [--tier free|professional|enterprise|premium] [--features A,B] [--name NAME]',
    flags: ['email', 'tier', 'features', 'name'],
    positionals: [],
    run: (env, values, _, nowMs) =>
      createAccount(
        env,
        {
          ownerEmail: address(required(values, 'email')),
          tier: tier(values.tier ?? 'free'),
          features: featureList(values.features),
          ...(values.name === undefined ? {} : { ownerName: values.name }),
        },
        nowMs,
      ),
  },
  'account list': { usage: '', flags: [], positionals: [], run: (env) => listAccounts(env) },
  'account set-tier': {
    usage: 'ACCOUNT TIER',
    flags: [],
    positionals: ['ACCOUNT', 'TIER'],
    run: (env, _, [id = '', name = ''], nowMs) => change(env, id, { tier: tier(name) }, nowMs),
  },
  'account set-features': {
    usage: 'ACCOUNT A,B,…',
    flags: [],
    positionals: ['ACCOUNT', 'FEATURES'],
    run: (env, _, [id = '', names = ''], nowMs) => change(env, id, { features: featureList(names) }, nowMs),
  },
  'account set-owner': {
    usage: 'ACCOUNT ADDRESS',
    flags: [],
    positionals: ['ACCOUNT', 'ADDRESS'],
    run: (env, _, [id = '', ownerEmail = ''], nowMs) => change(env, id, { ownerEmail: address(ownerEmail) }, nowMs),
  },
  'account enable': switchCommand({ disabled: false }),
  'account disable': switchCommand({ disabled: true }),
  'account require-payment': switchCommand({ paymentOwed: true }),
  'account clear-payment': switchCommand({ paymentOwed: false }),
  'site create': {
    usage: '--account ACCOUNT --name NAME --domains A,B [--settings JSON]',
    flags: ['account', 'name', 'domains', 'settings'],
    positionals: [],
    run: async (env, values, _, nowMs) =>
      provisionSite(
        env,
        {
          accountId: await knownAccount(env, required(values, 'account')),
          name: required(values, 'name'),
          settings: { ...json(values, 'settings'), domains: required(values, 'domains').split(',') },
        },
        nowMs,
      ),
  },
  'site list': {
    usage: '--account ACCOUNT',
    flags: ['account'],
    positionals: [],
    run: async (env, values) => sitesOfAccount(env, await knownAccount(env, required(values, 'account'))),
  },
  'site rotate-secret': {
    usage: '--account ACCOUNT --site-key KEY [--overlap-hours HOURS]',
    flags: ['account', 'site-key', 'overlap-hours'],
    positionals: [],
    run: async (env, values, _, nowMs) => {
      const site = {
        accountId: await knownAccount(env, required(values, 'account')),
        siteKey: required(values, 'site-key'),
      };
      const formerUntilMs = nowMs + overlapHours(values['overlap-hours']) * HOUR_MS;
      const secretKey = await rotateSiteSecret(env, site, formerUntilMs, nowMs);
      if (secretKey === null)
        throw new CommandError(
          'The account has no active site with this key. List its sites with: site list --account ACCOUNT',
        );
      return { siteKey: site.siteKey, secretKey, formerSecretUntil: new Date(formerUntilMs).toISOString() };
    },
  },
  'instance create': {
    usage: '--account ACCOUNT --site-key KEY --cname HOST [--name NAME] [--policy JSON]',
    flags: ['account', 'site-key', 'cname', 'name', 'policy'],
    positionals: [],
    run: async (env, values, _, nowMs) => {
      const cname = required(values, 'cname');
      return provisionInstance(
        env,
        {
          accountId: await knownAccount(env, required(values, 'account')),
          globalSiteKey: required(values, 'site-key'),
          cname,
          name: values.name ?? cname,
          policy: json(values, 'policy'),
        },
        nowMs,
      );
    },
  },
  'instance list': {
    usage: '--account ACCOUNT',
    flags: ['account'],
    positionals: [],
    run: async (env, values) => instancesOfAccount(env, await knownAccount(env, required(values, 'account'))),
  },
  'key create': {
    usage: '--account ACCOUNT --name NAME [--permissions Feature,Feature:permission] [--expires-in SECONDS]',
    flags: ['account', 'name', 'permissions', 'expires-in'],
    positionals: [],
    run: async (env, values, _, nowMs) =>
      provisionApiKey(
        env,
        {
          accountId: await knownAccount(env, required(values, 'account')),
          name: required(values, 'name'),
          permissions: permissions(values.permissions),
          expiresInSeconds: seconds(values['expires-in']),
        },
        nowMs,
      ),
  },
  'key list': {
    usage: '--account ACCOUNT',
    flags: ['account'],
    positionals: [],
    run: async (env, values) => {
      const keys = await apiKeysOfAccount(env, await knownAccount(env, required(values, 'account')));
      return Promise.all(keys.map(async (key) => ({ ...key, token: await apiKeyToken(await rootKey(env), key) })));
    },
  },
  'key delete': {
    usage: '--account ACCOUNT --id KEY',
    flags: ['account', 'id'],
    positionals: [],
    run: async (env, values) => {
      const deleted = await deleteApiKey(env, required(values, 'account'), required(values, 'id'));
      if (!deleted)
        throw new CommandError('The account has no key with this id. List its keys with: key list --account ACCOUNT');
      return { success: true };
    },
  },
  'keys reseal': {
    usage: '',
    flags: [],
    positionals: [],
    run: async (env, _, __, nowMs) => {
      const outcome = await resealRootKey(env, nowMs);
      if (!outcome.ok) {
        throw new CommandError('Another command re-sealed the key at the same time. Run this command again.');
      }
      return { outcome: outcome.value };
    },
  },
  migrate: {
    usage: '',
    flags: [],
    positionals: [],
    run: async (env) => ({ applied: await migrate(env.DB) }),
  },
};

/** Runs one command. A mistake of the caller gives one line and exit code 1, never a stack trace. */
export async function runCommand(args: readonly string[], env: StoreEnv): Promise<CommandResult> {
  const [noun = '', verb = ''] = args;
  const single = commandNamed(noun);
  const command = single ?? commandNamed(`${noun} ${verb}`);
  if (!command)
    return {
      exitCode: 1,
      output: `There is no command "${`${noun} ${verb}`.trim()}". Use one of these:\n\n${usage()}`,
    };
  const rest = args.slice(single ? 1 : 2);
  try {
    const { values, positionals } = parsed(single ? noun : `${noun} ${verb}`, command, rest);
    const result = await command.run(env, values, positionals, Date.now());
    return { exitCode: 0, output: JSON.stringify(result, null, 2) };
  } catch (error) {
    if (error instanceof CommandError) return { exitCode: 1, output: error.message };
    // Unknown flags are errors of parseArgs. Everything else is a failure with its own message.
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

function commandNamed(name: string): Command | undefined {
  return Object.hasOwn(commands, name) ? commands[name] : undefined;
}

export function usage(): string {
  const lines = Object.entries(commands).map(([name, command]) => `  ${name} ${command.usage}`.trimEnd());
  return ['Usage: npm run gatehouse -- COMMAND [--state DIR | --remote]', '', ...lines, '  --version'].join('\n');
}

function parsed(
  name: string,
  command: Command,
  args: readonly string[],
): { values: Values; positionals: readonly string[] } {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const flag of command.flags) options[flag] = { type: 'string' };
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  const missing = command.positionals.slice(positionals.length);
  if (missing.length > 0) throw new CommandError(`${missing.join(' and ')} missing. Usage: ${name} ${command.usage}`);
  const extra = positionals.slice(command.positionals.length);
  if (extra.length > 0)
    throw new CommandError(`Unexpected: ${extra.join(' ')}. Usage: ${name} ${command.usage}`.trim());
  return { values: values as Values, positionals };
}

function switchCommand(to: { disabled: boolean } | { paymentOwed: boolean }): Command {
  return {
    usage: 'ACCOUNT',
    flags: [],
    positionals: ['ACCOUNT'],
    run: (env, _, [id = ''], nowMs) => change(env, id, to, nowMs),
  };
}

async function change(env: StoreEnv, id: string, to: Parameters<typeof updateAccount>[2], nowMs: number) {
  const account = await updateAccount(env, id, to, nowMs);
  if (!account) throw unknownAccount(id);
  return account;
}

function unknownAccount(id: string): CommandError {
  return new CommandError(`There is no account ${id}. List accounts with: account list`);
}

async function knownAccount(env: StoreEnv, id: string): Promise<string> {
  if (!(await accountById(env, id))) throw unknownAccount(id);
  return id;
}

function required(values: Values, flag: string): string {
  const value = values[flag];
  if (value === undefined || value === '') throw new CommandError(`--${flag} is missing. Add it with a value.`);
  return value;
}

function address(text: string): string {
  if (!emailAddress.safeParse(text).success)
    throw new CommandError(`${text} is not an email address. Use one such as owner@example.com.`);
  return text;
}

function tier(name: string): AccountTier {
  const found = accountTiers.find((known) => known === name);
  if (!found) throw new CommandError(`${name} is not a tier. Use one of: ${accountTiers.join(', ')}.`);
  return found;
}

function feature(name: string): Feature {
  const found = allFeatures.find((known) => known === name);
  if (!found) throw new CommandError(`${name} is not a feature. Use: ${allFeatures.join(', ')}.`);
  return found;
}

function featureList(names: string | undefined): readonly Feature[] {
  return names === undefined ? allFeatures : names.split(',').filter(Boolean).map(feature);
}

/** `Traffic` grants a whole feature, `Sites:getSites` one permission of it. */
function permissions(list: string | undefined): PermissionMap {
  if (list === undefined) return allPermissions();
  const granted: Partial<Record<Feature, string[]>> = {};
  for (const item of list.split(',').filter(Boolean)) {
    const [name = '', one] = item.split(':');
    const known: readonly string[] = featurePermissions[feature(name)];
    if (one !== undefined && !known.includes(one)) {
      throw new CommandError(`${one} is not a permission of ${name}. Use: ${known.join(', ')}.`);
    }
    (granted[feature(name)] ??= []).push(...(one === undefined ? known : [one]));
  }
  return granted as PermissionMap;
}

function seconds(text: string | undefined): number {
  if (text === undefined) return API_KEY_DEFAULT_SECONDS;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new CommandError('--expires-in must be a whole number of seconds, at least 1.');
  return value;
}

/** One day by default, which is long enough to deploy every backend. */
function overlapHours(text: string | undefined): number {
  const hours = Number(text ?? '24');
  if (!(hours >= 0 && hours <= OVERLAP_HOURS_MAX)) {
    throw new CommandError(`--overlap-hours must be a number from 0 to ${OVERLAP_HOURS_MAX}.`);
  }
  return hours;
}

function json(values: Values, flag: string): object {
  try {
    const value: unknown = JSON.parse(values[flag] ?? '{}');
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below, with the flag's name.
  }
  throw new CommandError(`--${flag} must be a JSON object, such as '{}'.`);
}
