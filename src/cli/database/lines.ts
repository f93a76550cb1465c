/** What each command on the database takes. `commands.ts` runs them, where the database is. */
import { features as allFeatures } from '../../contract/management/permissions.ts';
import { accountTiers } from '../../contract/vocabulary.ts';
import type { CommandLine } from '../command-line.ts';

const owned = { account: 'ACCOUNT' } as const;

export const databaseLines = {
  'account create': {
    about: 'Creates an account with every feature, or with some.',
    example: 'account create --email owner@example.com --tier professional',
    required: { email: 'ADDRESS' },
    optional: { tier: accountTiers.join('|'), features: 'A,B', name: 'NAME' },
  },
  'account list': {
    about: 'Lists all accounts.',
    example: 'account list',
  },
  'account set-tier': {
    about: `Changes the plan of an account. TIER is one of ${accountTiers.join(', ')}.`,
    example: 'account set-tier ACCOUNT enterprise',
    positionals: ['ACCOUNT', 'TIER'],
  },
  'account set-features': {
    about: `Replaces the features of an account. FEATURES is a list such as A,B of ${allFeatures.join(', ')}.`,
    example: 'account set-features ACCOUNT Protect,Sites,API',
    positionals: ['ACCOUNT', 'FEATURES'],
  },
  'account set-owner': {
    about: 'Changes the email address of the owner.',
    example: 'account set-owner ACCOUNT new-owner@example.com',
    positionals: ['ACCOUNT', 'ADDRESS'],
  },
  'account enable': {
    about: 'Enables an account again.',
    example: 'account enable ACCOUNT',
    positionals: ['ACCOUNT'],
  },
  'account disable': {
    about: 'Disables an account. Its API keys get 403.',
    example: 'account disable ACCOUNT',
    positionals: ['ACCOUNT'],
  },
  'account require-payment': {
    about: 'Refuses changes until a payment method is there.',
    example: 'account require-payment ACCOUNT',
    positionals: ['ACCOUNT'],
  },
  'account clear-payment': {
    about: 'Allows changes again.',
    example: 'account clear-payment ACCOUNT',
    positionals: ['ACCOUNT'],
  },
  'site create': {
    about: 'Creates a site and prints its two keys.',
    example: 'site create --account ACCOUNT --name shop --domains example.com',
    required: { ...owned, name: 'NAME', domains: 'A,B' },
    optional: { settings: 'JSON' },
  },
  'site list': {
    about: 'Lists the sites of an account, with their secrets.',
    example: 'site list --account ACCOUNT',
    required: owned,
  },
  'site activate': {
    about: 'Activates a site that was deactivated. Its keys and settings are what they were.',
    example: 'site activate --account ACCOUNT --site-key SITE_KEY',
    required: { ...owned, 'site-key': 'KEY' },
  },
  'site rotate-secret': {
    about: 'Gives a site a new secret. The former one works for 24 hours, or as long as --overlap-hours says.',
    example: 'site rotate-secret --account ACCOUNT --site-key SITE_KEY',
    required: { ...owned, 'site-key': 'KEY' },
    optional: { 'overlap-hours': 'HOURS' },
  },
  'instance create': {
    about: 'Creates a Protect instance, in monitor mode. The policy has the same fields as /protect/instances/create.',
    example: 'instance create --account ACCOUNT --site-key SITE_KEY --cname www.example.com',
    required: { ...owned, 'site-key': 'KEY', cname: 'HOST' },
    optional: { name: 'NAME', policy: 'JSON' },
  },
  'instance list': {
    about: 'Lists the Protect instances of an account.',
    example: 'instance list --account ACCOUNT',
    required: owned,
  },
  'key create': {
    about: 'Creates an API key, with every permission and for 30 days unless the flags say otherwise.',
    example: 'key create --account ACCOUNT --name operations',
    required: { ...owned, name: 'NAME' },
    optional: { permissions: 'read-only|Feature,Feature:permission', 'expires-in': 'SECONDS' },
  },
  'key list': {
    about: 'Lists the API keys of an account. --json has their tokens.',
    example: 'key list --account ACCOUNT',
    required: owned,
  },
  'key delete': {
    about: 'Deletes an API key. It is invalid at once.',
    example: 'key delete --account ACCOUNT --id KEY_ID',
    required: { ...owned, id: 'KEY' },
  },
  signin: {
    about: 'Makes a link that signs a team member in to the console, once and within 15 minutes.',
    example: 'signin --email owner@example.com',
    required: { email: 'ADDRESS' },
    optional: owned,
  },
  'bots find': {
    about: 'Lists bots of the catalogue, and those that an account has added.',
    example: 'bots find --search google',
    optional: { ...owned, search: 'TEXT', behaviour: 'BEHAVIOUR' },
  },
  'bots lists': {
    about: 'Lists the networks that operators of bots publish: how many were read, when, and what is wrong.',
    example: 'bots lists',
  },
  'bots read': {
    about: 'Reads a list of networks with the next scheduled run.',
    example: 'bots read https://openai.com/gptbot.json',
    positionals: ['URL'],
  },
  'bots accept': {
    about: 'Puts a list of networks in force that changed by more than half.',
    example: 'bots accept https://openai.com/gptbot.json',
    positionals: ['URL'],
  },
  'bots add': {
    about:
      'Adds a bot of your own to the catalogue of an account, or replaces it. JSON has id, behaviours and patterns.',
    example: `bots add --account ACCOUNT --bot '{"id":"ourbot","behaviours":["monitor"],"patterns":["ourbot/"]}'`,
    required: { ...owned, bot: 'JSON' },
  },
  'bots remove': {
    about: 'Removes a bot of your own.',
    example: 'bots remove --account ACCOUNT --id ourbot',
    required: { ...owned, id: 'ID' },
  },
  'bots list': {
    about: 'Lists the bots that an account has added.',
    example: 'bots list --account ACCOUNT',
    required: owned,
  },
  'log copy': {
    about: 'Copies the sealed log of a local stack to DIR as Parquet files, and removes there what the log erased.',
    example: 'log copy verdict-log',
    positionals: ['DIR'],
  },
  'keys reseal': {
    about: 'Seals the root key under MASTER_KEY, after that secret was rotated.',
    example: 'keys reseal',
  },
  migrate: {
    about: 'Applies the migrations that the database does not have yet.',
    example: 'migrate',
  },
} satisfies Record<string, CommandLine & { example: string }>;
