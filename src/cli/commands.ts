/**
 * Commands that work on the database itself: accounts, which no endpoint can change, and what an operator needs before
 * the first API key exists. They print JSON, so that scripts can read it.
 */
import { emailAddress } from '../contract/management/email-address.ts';
import { featurePermissions, features as allFeatures } from '../contract/management/permissions.ts';
import type { Feature, PermissionMap } from '../contract/management/permissions.ts';
import { accountTiers } from '../contract/vocabulary.ts';
import type { AccountTier } from '../contract/vocabulary.ts';
import { accountById, createAccount, listAccounts, updateAccount } from '../store/d1/accounts.ts';
import type { AccountRecord } from '../store/d1/accounts.ts';
import { apiKeyToken, apiKeysOfAccount, deleteApiKey } from '../store/d1/api-keys.ts';
import type { StoreEnv } from '../store/binding.ts';
import { instancesOfAccount } from '../store/d1/instances.ts';
import { ownBotsOf } from '../store/d1/own-bots.ts';
import { rotateSiteSecret } from '../store/d1/rotate-site-secret.ts';
import { sitesOfAccount } from '../store/d1/sites.ts';
import { acceptBotList, addOwnBot, findBots, listBotLists, readBotList, removeBot } from './bot-lists.ts';
import { argumentsOf, CommandError, usageOf } from './command-line.ts';
import type { Arguments, CommandLine, CommandResult } from './command-line.ts';
import { copyLog } from './log-copy.ts';
import type { SegmentBucket } from './log-copy.ts';
import { migrate } from './migrations.ts';
import { signInUrl } from './sign-in.ts';
import {
  API_KEY_DEFAULT_SECONDS,
  activateSite,
  allPermissions,
  provisionApiKey,
  provisionInstance,
  provisionSite,
} from './provision.ts';
import { resealRootKey, rootKey } from '../store/keys/root-key.ts';

/** Thirty days. A previous secret that stays valid for longer was not rotated. */
const OVERLAP_HOURS_MAX = 720;
const HOUR_MS = 3_600_000;

type Values = Arguments['values'];

/** What a command works on. */
export interface CommandEnv extends StoreEnv {
  /** Public address of the service. Absent where no service runs. */
  serviceUrl?: string;
  /** Sealed segments of the log. Absent with `--remote`. */
  SEGMENTS?: SegmentBucket;
}

interface Command extends CommandLine {
  run(env: CommandEnv, values: Values, positionals: readonly string[], nowMs: number): Promise<unknown>;
}

const owned = { account: 'ACCOUNT' } as const;

const commands: Record<string, Command> = {
  'account create': {
    about: 'Creates an account with every feature, or with some.',
    required: { email: 'ADDRESS' },
    optional: { tier: accountTiers.join('|'), features: 'A,B', name: 'NAME' },
    run: (env, values, _, nowMs) =>
      createAccount(
        env,
        {
          ownerEmail: address(given(values, 'email')),
          tier: tier(values.tier ?? 'free'),
          features: featureList(values.features),
          ...(values.name === undefined ? {} : { ownerName: values.name }),
        },
        nowMs,
      ),
  },
  'account list': { about: 'Lists all accounts.', run: (env) => listAccounts(env) },
  'account set-tier': {
    about: `Changes the plan of an account. TIER is one of ${accountTiers.join(', ')}.`,
    positionals: ['ACCOUNT', 'TIER'],
    run: (env, _, [id = '', name = ''], nowMs) => change(env, id, { tier: tier(name) }, nowMs),
  },
  'account set-features': {
    about: `Replaces the features of an account. FEATURES is a list such as A,B of ${allFeatures.join(', ')}.`,
    positionals: ['ACCOUNT', 'FEATURES'],
    run: (env, _, [id = '', names = ''], nowMs) => change(env, id, { features: featureList(names) }, nowMs),
  },
  'account set-owner': {
    about: 'Changes the email address of the owner.',
    positionals: ['ACCOUNT', 'ADDRESS'],
    run: (env, _, [id = '', ownerEmail = ''], nowMs) => change(env, id, { ownerEmail: address(ownerEmail) }, nowMs),
  },
  'account enable': switchCommand('Enables an account again.', { disabled: false }),
  'account disable': switchCommand('Disables an account. Its API keys get 403.', { disabled: true }),
  'account require-payment': switchCommand('Refuses changes until a payment method is there.', { paymentOwed: true }),
  'account clear-payment': switchCommand('Allows changes again.', { paymentOwed: false }),
  'site create': {
    about: 'Creates a site and prints its two keys.',
    required: { ...owned, name: 'NAME', domains: 'A,B' },
    optional: { settings: 'JSON' },
    run: async (env, values, _, nowMs) =>
      provisionSite(
        env,
        {
          account: await knownAccount(env, values),
          name: given(values, 'name'),
          settings: { ...json(values, 'settings'), domains: given(values, 'domains').split(',') },
        },
        nowMs,
      ),
  },
  'site list': {
    about: 'Lists the sites of an account, with their secrets.',
    required: owned,
    run: async (env, values) => sitesOfAccount(env, (await knownAccount(env, values)).id),
  },
  'site activate': {
    about: 'Activates a site that was deactivated. Its keys and settings are what they were.',
    required: { ...owned, 'site-key': 'KEY' },
    run: async (env, values, _, nowMs) =>
      activateSite(env, await knownAccount(env, values), given(values, 'site-key'), nowMs),
  },
  'site rotate-secret': {
    about: 'Gives a site a new secret. The former one works for 24 hours, or as long as --overlap-hours says.',
    required: { ...owned, 'site-key': 'KEY' },
    optional: { 'overlap-hours': 'HOURS' },
    run: async (env, values, _, nowMs) => {
      const site = { accountId: (await knownAccount(env, values)).id, siteKey: given(values, 'site-key') };
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
    about: 'Creates a Protect instance, in monitor mode. The policy has the same fields as /protect/instances/create.',
    required: { ...owned, 'site-key': 'KEY', cname: 'HOST' },
    optional: { name: 'NAME', policy: 'JSON' },
    run: async (env, values, _, nowMs) => {
      const cname = given(values, 'cname');
      return provisionInstance(
        env,
        {
          accountId: (await knownAccount(env, values)).id,
          globalSiteKey: given(values, 'site-key'),
          cname,
          name: values.name ?? cname,
          policy: json(values, 'policy'),
        },
        nowMs,
      );
    },
  },
  'instance list': {
    about: 'Lists the Protect instances of an account.',
    required: owned,
    run: async (env, values) => instancesOfAccount(env, (await knownAccount(env, values)).id),
  },
  'key create': {
    about: 'Creates an API key, with every permission and for 30 days unless the flags say otherwise.',
    required: { ...owned, name: 'NAME' },
    optional: { permissions: 'Feature,Feature:permission', 'expires-in': 'SECONDS' },
    run: async (env, values, _, nowMs) =>
      provisionApiKey(
        env,
        {
          accountId: (await knownAccount(env, values)).id,
          name: given(values, 'name'),
          permissions: permissions(values.permissions),
          expiresInSeconds: seconds(values['expires-in']),
        },
        nowMs,
      ),
  },
  'key list': {
    about: 'Lists the API keys of an account, with their tokens.',
    required: owned,
    run: async (env, values) => {
      const keys = await apiKeysOfAccount(env, (await knownAccount(env, values)).id);
      return Promise.all(keys.map(async (key) => ({ ...key, token: await apiKeyToken(await rootKey(env), key) })));
    },
  },
  'key delete': {
    about: 'Deletes an API key. It is invalid at once.',
    required: { ...owned, id: 'KEY' },
    run: async (env, values) => {
      const deleted = await deleteApiKey(env, given(values, 'account'), given(values, 'id'));
      if (!deleted)
        throw new CommandError('The account has no key with this id. List its keys with: key list --account ACCOUNT');
      return { success: true };
    },
  },
  signin: {
    about: 'Makes a link that signs a team member in to the console, once and within 15 minutes.',
    required: { email: 'ADDRESS' },
    optional: owned,
    run: async (env, values, _, nowMs) => {
      const email = address(given(values, 'email'));
      const accountId = values['account'] === undefined ? null : (await knownAccount(env, values)).id;
      return signInUrl(env, env.serviceUrl, { email, accountId }, nowMs);
    },
  },
  'bots find': {
    about: 'Lists bots of the catalogue, and those that an account has added.',
    optional: { ...owned, search: 'TEXT', behaviour: 'BEHAVIOUR' },
    run: async (env, values) => {
      const accountId = values['account'] === undefined ? null : (await knownAccount(env, values)).id;
      return findBots(env, { accountId, search: values['search'], behaviour: values['behaviour'] });
    },
  },
  'bots lists': {
    about: 'Lists the networks that operators of bots publish: how many were read, when, and what is wrong.',
    run: (env) => listBotLists(env),
  },
  'bots read': {
    about: 'Reads a list of networks with the next scheduled run.',
    positionals: ['URL'],
    run: (env, _, [url = '']) => readBotList(env, url),
  },
  'bots accept': {
    about: 'Puts a list of networks in force that changed by more than half.',
    positionals: ['URL'],
    run: (env, _, [url = ''], nowMs) => acceptBotList(env, url, nowMs),
  },
  'bots add': {
    about:
      'Adds a bot of your own to the catalogue of an account, or replaces it. JSON has id, behaviours and patterns.',
    required: { ...owned, bot: 'JSON' },
    run: async (env, values) => addOwnBot(env, (await knownAccount(env, values)).id, json(values, 'bot')),
  },
  'bots remove': {
    about: 'Removes a bot of your own.',
    required: { ...owned, id: 'ID' },
    run: async (env, values) => removeBot(env, (await knownAccount(env, values)).id, given(values, 'id')),
  },
  'bots list': {
    about: 'Lists the bots that an account has added.',
    required: owned,
    run: async (env, values) => ownBotsOf(env, (await knownAccount(env, values)).id),
  },
  'log copy': {
    about: 'Copies the sealed log of a local stack to DIR as Parquet files, and removes there what the log erased.',
    positionals: ['DIR'],
    run: (env, _, [dir = '']) => copyLog(env.SEGMENTS, dir),
  },
  'keys reseal': {
    about: 'Seals the root key under MASTER_KEY, after that secret was rotated.',
    run: async (env, _, __, nowMs) => {
      const outcome = await resealRootKey(env, nowMs);
      if (!outcome.ok) {
        throw new CommandError('Another command re-sealed the key at the same time. Run this command again.');
      }
      return { outcome: outcome.value };
    },
  },
  migrate: {
    about: 'Applies the migrations that the database does not have yet.',
    run: async (env) => ({ applied: await migrate(env.DB) }),
  },
};

/** What every command of this table takes, for the list of `--help`. */
export const databaseCommands: Readonly<Record<string, CommandLine>> = commands;

/** Runs one command. A mistake of the caller gives one line and exit code 1, never a stack trace. */
export async function runCommand(args: readonly string[], env: CommandEnv): Promise<CommandResult> {
  try {
    const { command, values, positionals } = read(args);
    const result = await command.run(env, values, positionals, Date.now());
    return { exitCode: 0, output: JSON.stringify(result, null, 2) };
  } catch (error) {
    // A failure of the database has its own message.
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

/** @throws CommandError when there is no such command, or when it takes other arguments. */
export function checkCommand(args: readonly string[]): void {
  read(args);
}

function read(args: readonly string[]): Arguments & { command: Command } {
  const [noun = '', verb = ''] = args;
  const name = Object.hasOwn(commands, noun) ? noun : `${noun} ${verb}`.trim();
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const near = Object.entries(commands).filter(([other]) => other.startsWith(`${noun} `));
    const known = near.map(([other, line]) => `  ${usageOf(other, line)}`);
    const hint = known.length > 0 ? `Use one of these:\n\n${known.join('\n')}` : 'List the commands with --help.';
    throw new CommandError(`There is no command "${name}". ${hint}`);
  }
  return { command, ...argumentsOf(name, command, args.slice(name.split(' ').length)) };
}

function switchCommand(about: string, to: { disabled: boolean } | { paymentOwed: boolean }): Command {
  return {
    about,
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

async function knownAccount(env: StoreEnv, values: Values): Promise<AccountRecord> {
  const id = given(values, 'account');
  const found = await accountById(env, id);
  if (!found) throw unknownAccount(id);
  return found;
}

/** A required flag, which `argumentsOf` has checked. */
function given(values: Values, flag: string): string {
  return values[flag] ?? '';
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
