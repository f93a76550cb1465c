/**
 * Commands that work on the database itself: accounts, which no endpoint can change, and what an operator needs before
 * the first API key exists. They print JSON, so that scripts can read it.
 */
import { emailAddress } from '../../contract/management/email-address.ts';
import {
  featurePermissions,
  features as allFeatures,
  readOnlyPermissions,
  type Feature,
  type PermissionMap,
} from '../../contract/management/permissions.ts';
import { accountTiers, type AccountTier } from '../../contract/vocabulary.ts';
import type { StoreEnv } from '../../store/binding.ts';
import {
  accountById,
  createAccount,
  listAccounts,
  type AccountRecord,
  updateAccount,
} from '../../store/d1/accounts.ts';
import { apiKeyToken, apiKeysOfAccount, deleteApiKey } from '../../store/d1/api-keys.ts';
import { instancesOfAccount } from '../../store/d1/instances.ts';
import { ownBotsOf } from '../../store/d1/own-bots.ts';
import { rotateSiteSecret, sitesOfAccount } from '../../store/d1/sites.ts';
import { resealRootKey, rootKey } from '../../store/keys/root-key.ts';
import {
  CommandError,
  argumentsOf,
  findCommand,
  type Arguments,
  type CommandLine,
  type CommandResult,
} from '../command-line.ts';
import { migrate } from '../migrations.ts';
import {
  API_KEY_DEFAULT_SECONDS,
  activateSite,
  allPermissions,
  provisionApiKey,
  provisionInstance,
  provisionSite,
} from '../provision.ts';
import { signInUrl } from '../sign-in.ts';
import { acceptBotList, addOwnBot, findBots, listBotLists, readBotList, removeBot } from './bot-lists.ts';
import { databaseLines } from './lines.ts';
import { copyLog, type SegmentBucket } from './log-copy.ts';

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
  /** Progress of a long command. */
  seen?: (done: number, total: number) => void;
}

type Run = (env: CommandEnv, values: Values, positionals: readonly string[], nowMs: number) => Promise<unknown>;

const runs: Readonly<Record<keyof typeof databaseLines, Run>> = {
  'account create': (env, values, _, nowMs) =>
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
  'account list': (env) => listAccounts(env),
  'account set-tier': (env, _, [id = '', name = ''], nowMs) => change(env, id, { tier: tier(name) }, nowMs),
  'account set-features': (env, _, [id = '', names = ''], nowMs) =>
    change(env, id, { features: featureList(names) }, nowMs),
  'account set-owner': (env, _, [id = '', ownerEmail = ''], nowMs) =>
    change(env, id, { ownerEmail: address(ownerEmail) }, nowMs),
  'account enable': (env, _, [id = ''], nowMs) => change(env, id, { disabled: false }, nowMs),
  'account disable': (env, _, [id = ''], nowMs) => change(env, id, { disabled: true }, nowMs),
  'account require-payment': (env, _, [id = ''], nowMs) => change(env, id, { paymentOwed: true }, nowMs),
  'account clear-payment': (env, _, [id = ''], nowMs) => change(env, id, { paymentOwed: false }, nowMs),
  'site create': async (env, values, _, nowMs) =>
    provisionSite(
      env,
      {
        account: await knownAccount(env, values),
        name: given(values, 'name'),
        settings: { ...json(values, 'settings'), domains: given(values, 'domains').split(',') },
      },
      nowMs,
    ),
  'site list': async (env, values) => sitesOfAccount(env, (await knownAccount(env, values)).id),
  'site activate': async (env, values, _, nowMs) =>
    activateSite(env, await knownAccount(env, values), given(values, 'site-key'), nowMs),
  'site rotate-secret': async (env, values, _, nowMs) => {
    const site = { accountId: (await knownAccount(env, values)).id, siteKey: given(values, 'site-key') };
    const formerUntilMs = nowMs + overlapHours(values['overlap-hours']) * HOUR_MS;
    const secretKey = await rotateSiteSecret(env, site, formerUntilMs, nowMs);
    if (secretKey === null)
      throw new CommandError(
        'The account has no active site with this key. List its sites with: site list --account ACCOUNT',
      );
    return { siteKey: site.siteKey, secretKey, formerSecretUntil: new Date(formerUntilMs).toISOString() };
  },
  'instance create': async (env, values, _, nowMs) => {
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
  'instance list': async (env, values) => instancesOfAccount(env, (await knownAccount(env, values)).id),
  'key create': async (env, values, _, nowMs) =>
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
  'key list': async (env, values) => {
    const keys = await apiKeysOfAccount(env, (await knownAccount(env, values)).id);
    return Promise.all(keys.map(async (key) => ({ ...key, token: await apiKeyToken(await rootKey(env), key) })));
  },
  'key delete': async (env, values) => {
    const deleted = await deleteApiKey(env, given(values, 'account'), given(values, 'id'));
    if (!deleted)
      throw new CommandError('The account has no key with this id. List its keys with: key list --account ACCOUNT');
    return { success: true };
  },
  signin: async (env, values, _, nowMs) => {
    const email = address(given(values, 'email'));
    const accountId = values['account'] === undefined ? null : (await knownAccount(env, values)).id;
    return signInUrl(env, env.serviceUrl, { email, accountId }, nowMs);
  },
  'bots find': async (env, values) => {
    const accountId = values['account'] === undefined ? null : (await knownAccount(env, values)).id;
    return findBots(env, { accountId, search: values['search'], behaviour: values['behaviour'] });
  },
  'bots lists': (env) => listBotLists(env),
  'bots read': (env, _, [url = '']) => readBotList(env, url),
  'bots accept': (env, _, [url = ''], nowMs) => acceptBotList(env, url, nowMs),
  'bots add': async (env, values) => addOwnBot(env, (await knownAccount(env, values)).id, json(values, 'bot')),
  'bots remove': async (env, values) => removeBot(env, (await knownAccount(env, values)).id, given(values, 'id')),
  'bots list': async (env, values) => ownBotsOf(env, (await knownAccount(env, values)).id),
  'log copy': (env, _, [dir = '']) => copyLog(env.SEGMENTS, dir, env.seen),
  'keys reseal': async (env, _, __, nowMs) => {
    const outcome = await resealRootKey(env, nowMs);
    if (!outcome.ok) {
      throw new CommandError('Another command re-sealed the key at the same time. Run this command again.');
    }
    return { outcome: outcome.value };
  },
  migrate: async (env) => ({ applied: await migrate(env.DB) }),
};

/** Runs one command. A mistake of the caller gives one line and exit code 1, never a stack trace. */
export async function runCommand(args: readonly string[], env: CommandEnv): Promise<CommandResult> {
  try {
    const { name, entry, rest } = findCommand<CommandLine>(databaseLines, args);
    const { values, positionals } = argumentsOf(name, entry, rest);
    const result = await runs[name as keyof typeof databaseLines](env, values, positionals, Date.now());
    return { exitCode: 0, output: JSON.stringify(result, null, 2) };
  } catch (error) {
    // A failure of the database has its own message.
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
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

/** `Traffic` grants a whole feature, `Sites:readSites` one permission of it. */
function permissions(list: string | undefined): PermissionMap {
  if (list === undefined) return allPermissions();
  if (list === 'read-only') return readOnlyPermissions;
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
