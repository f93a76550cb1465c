/**
 * A configuration file as what it asks for: checked, in the canonical spelling of the service, and by name. Whatever is
 * wrong with it is found before a service is called.
 */
import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { OwnBot } from '../../bots/own-bot.ts';
import { isJsonObject } from '../../bytes/json.ts';
import type { EdgeRuleCanonical } from '../../contract/management/edge-rule.ts';
import type { Limit } from '../../contract/management/policy-set/limit.ts';
import type { Origin } from '../../contract/management/policy-set/origin.ts';
import type { Policy } from '../../contract/management/policy-set/policy.ts';
import { canonicalValue } from '../../rules/canonical.ts';
import { checkedCname, checkedHosts } from '../../service/operations/protect/instances/check-instance.ts';
import { checkCondition } from '../../service/operations/protect/policies/read-set.ts';
import { checkDomains } from '../../service/operations/sites/check-domains.ts';
import { normaliseEmail } from '../../store/d1/accounts.ts';
import { CommandError } from '../command-line.ts';
import { readAccessRules, type WantedAccessRule } from './access-control-rules.ts';
import {
  configFile,
  type ConfigFile,
  type FileChannel,
  type FileInstance,
  type FileList,
  type FilePolicy,
  type FileRule,
  type FileSite,
  type FileUser,
} from './config-schema.ts';
import { ConfigDocument } from './document.ts';
import { problemsOf } from './issue-text.ts';
import { type FieldPath, Report } from './report.ts';

/** About 200,000 rules, which need two gigabytes of memory while they are read. */
export const FILE_MAX_BYTES = 16 * 1024 * 1024;

/** Something of the file, with its place in it. */
export type At<Item> = Item & { path: FieldPath };

export interface WantedInstance extends Omit<FileInstance, 'rules' | 'policies' | 'limits' | 'origins' | 'lists'> {
  path: FieldPath;
  rules: Map<string, EdgeRuleCanonical> | undefined;
  policies: Policy[] | undefined;
  limits: Limit[] | undefined;
  origins: Record<string, Origin> | undefined;
  lists: Map<string, At<FileList>> | undefined;
}

/** `undefined`: the file does not name this kind. By name. */
export interface Wanted {
  sites: Map<string, At<FileSite>> | undefined;
  instances: Map<string, WantedInstance> | undefined;
  accessControl: Map<string, WantedAccessRule> | undefined;
  bots: Map<string, OwnBot> | undefined;
  users: Map<string, At<FileUser>> | undefined;
  alertChannels: Map<string, At<FileChannel>> | undefined;
}

export interface ReadConfig {
  wanted: Wanted;
  /** For what can only be checked against the service. */
  report: Report;
}

/** `-`: standard input. @throws RejectedFileError, CommandError */
export async function readConfigFile(path: string): Promise<ReadConfig> {
  return readConfig(path === '-' ? 'standard input' : path, await textOf(path));
}

/** @throws RejectedFileError */
export async function readConfig(name: string, text: string): Promise<ReadConfig> {
  const document = new ConfigDocument(text);
  const report = new Report(name, document);
  report.addAll(document.problems);
  report.check();
  if (!isJsonObject(document.value)) report.add([], 'must have sections, such as sites and instances');
  report.check();
  const parsed = configFile.safeParse(document.value);
  if (!parsed.success) report.addAll(problemsOf(parsed.error, document));
  report.check();
  const wanted = await wantedOf(parsed.data!, report);
  report.check();
  return { wanted, report };
}

async function textOf(path: string): Promise<string> {
  try {
    if (path !== '-' && (await stat(path)).size > FILE_MAX_BYTES) throw tooLarge(path);
    const bytes = path === '-' ? readFileSync(0) : await readFile(path);
    if (bytes.length > FILE_MAX_BYTES) throw tooLarge(path);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if (error instanceof TypeError) throw new CommandError(`${path} is not UTF-8. Save it as UTF-8.`);
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${path} cannot be read. Check the path. ${reason}`);
  }
}

function tooLarge(path: string): CommandError {
  return new CommandError(
    `${path} has more than ${FILE_MAX_BYTES} bytes. Import the rules with "gatehouse rules import" and leave the section rules out.`,
  );
}

async function wantedOf(file: ConfigFile, report: Report): Promise<Wanted> {
  const { sites, instances, accessControl, bots, users, alertChannels } = file;
  return {
    sites: sites && sitesOf(sites, report),
    instances: instances && instancesOf(instances, report),
    accessControl: accessControl && (await readAccessRules(accessControl, report)),
    bots: bots && report.unique(bots, ['bots'], 'id', ({ id }) => id),
    users: users && usersOf(users, report),
    alertChannels: alertChannels && byName(alertChannels, ['alertChannels'], report),
  };
}

const nameOf = ({ name }: { name: string }): string => name;

function byName<Item extends { name: string }>(
  items: readonly Item[],
  at: FieldPath,
  report: Report,
): Map<string, At<Item>> {
  return report.unique(located(items, at), at, 'name', nameOf);
}

function located<Item>(items: readonly Item[], at: FieldPath): At<Item>[] {
  return items.map((item, index) => ({ ...item, path: [...at, index] }));
}

function usersOf(users: readonly FileUser[], report: Report): Map<string, At<FileUser>> {
  const spelled = users.map((user) => ({ ...user, email: normaliseEmail(user.email) }));
  return report.unique(located(spelled, ['users']), ['users'], 'email', ({ email }) => email);
}

function sitesOf(sites: readonly FileSite[], report: Report): Map<string, At<FileSite>> {
  const checked = located(sites, ['sites']);
  for (const { path, settings } of checked) {
    if (settings?.domains === undefined) continue;
    settings.domains = [...new Set(settings.domains)];
    report.checked(path, () => checkDomains('enterprise', settings.domains ?? []));
  }
  const defaults = checked.filter(({ isDefault }) => isDefault);
  for (const { path } of defaults.slice(1)) {
    report.add([...path, 'isDefault'], `is the default beside line ${report.line(defaults[0]!.path)}. Choose one`);
  }
  report.unique(
    checked.filter(({ siteKey }) => siteKey !== undefined),
    ['sites'],
    'siteKey',
    ({ siteKey = '' }) => siteKey,
  );
  return report.unique(checked, ['sites'], 'name', ({ name }) => name.toLowerCase());
}

function instancesOf(instances: readonly FileInstance[], report: Report): Map<string, WantedInstance> {
  const checked = instances.map((instance, index) => wantedInstance(instance, ['instances', index], report));
  return report.unique(checked, ['instances'], 'cname', ({ cname }) => cname);
}

function wantedInstance(given: FileInstance, path: FieldPath, report: Report): WantedInstance {
  const { rules, policies, limits, origins, lists, ...instance } = given;
  report.checked(path, () => (instance.cname = checkedCname(instance.cname)));
  const { settings } = instance;
  if (settings?.hosts !== undefined) {
    report.checked([...path, 'settings'], () => (settings.hosts = checkedHosts(settings.hosts ?? [])));
  }
  const at = (section: string): FieldPath => [...path, section];
  if (policies !== undefined) report.unique(policies, at('policies'), 'name', nameOf);
  if (limits !== undefined) report.unique(limits, at('limits'), 'name', nameOf);
  return {
    ...instance,
    path,
    rules: rules && rulesOf(rules, at('rules'), report),
    policies: policies && policiesOf(policies, at('policies'), report),
    limits,
    origins,
    lists: lists && byName(lists, at('lists'), report),
  };
}

function policiesOf(policies: readonly FilePolicy[], path: FieldPath, report: Report): Policy[] {
  return policies.flatMap(({ when, ...policy }, index) => {
    const condition = checkCondition(when);
    if (condition.ok) return [{ ...policy, when: condition.value } as Policy];
    const { message, place, path: inside } = condition.error;
    const steps = inside === null || inside === '' ? [] : inside.split('.');
    const where = place === null ? '' : ` at line ${place.line}, column ${place.column} of the condition`;
    report.add([...path, index, 'when', ...steps], `is not valid${where}: ${message}`);
    return [];
  });
}

function rulesOf(rules: readonly FileRule[], path: FieldPath, report: Report): Map<string, EdgeRuleCanonical> {
  const canonical: EdgeRuleCanonical[] = [];
  for (const [index, rule] of rules.entries()) {
    const value = canonicalValue(rule.type, rule.value);
    if (!value.ok) report.add([...path, index, 'value'], value.error);
    canonical.push(canonicalRule(rule, value.ok ? value.value : `\0${index}`));
  }
  return report.unique(canonical, path, 'type and value', ruleKey);
}

export function ruleKey({ type, value }: { type: string; value: string }): string {
  return `${type}:${value}`;
}

/** In the form that the service lists. Times are whole seconds there. */
function canonicalRule({ type, verdict, mode, expiry, rollout, note }: FileRule, value: string): EdgeRuleCanonical {
  return {
    type,
    value,
    verdict,
    mode: mode ?? 'enforce',
    expiry: typeof expiry === 'number' ? new Date(Math.floor(expiry / 1000) * 1000).toISOString() : null,
    rollout: rollout ?? 100,
    note: note || null,
  };
}
