/** What runs, as a configuration file: a plan of that file has no changes. It has references where secrets belong. */
import { Document, isMap, isScalar, isSeq, visit } from 'yaml';
import type { EdgeRuleListed } from '../../contract/management/edge-rule.ts';
import { instanceSettings, type ProtectInstance } from '../../contract/management/instance-settings.ts';
import type { ListStatus } from '../../contract/management/lists.ts';
import type { Policy } from '../../contract/management/policy-set/policy.ts';
import { siteSettings } from '../../contract/management/site-settings.ts';
import { printExpression } from '../../policies/text/print.ts';
import { CommandError } from '../command-line.ts';
import type { Given } from '../command.ts';
import type { ResponseAt } from '../management-call.ts';
import type { ProgressBar } from '../print/screen.ts';
import type { ConfigFile } from './config-schema.ts';
import { settable } from './kinds/account.ts';
import { referenceFor } from './secret-reference.ts';
import { settingsOfList, type ServiceState, type ShownSite } from './service-state.ts';

export const sectionNames = ['sites', 'instances', 'accessControl', 'bots', 'users', 'alertChannels'] as const;
export type SectionName = (typeof sectionNames)[number];

type Say = Given['note'];

/** `note`: for what this version cannot write. */
export async function exportConfig(
  state: ServiceState,
  sections: ReadonlySet<SectionName>,
  { note: say, progress }: Pick<Given, 'note' | 'progress'>,
): Promise<Record<string, unknown>> {
  const file: Record<string, unknown> = { version: 1 satisfies ConfigFile['version'] };
  const names = new References();
  const read: Record<SectionName, () => Promise<unknown>> = {
    sites: async () =>
      sorted(await state.sites(), ({ name }) => name)
        .filter(({ active }) => active)
        .map((site) => siteItem(site, say)),
    instances: async () => instanceItems(state, names, { note: say, progress }),
    accessControl: async () => (await state.accessControlRules()).filter(({ expired }) => !expired).map(settable),
    bots: () => state.bots(),
    users: async () =>
      sorted(await state.users(), ({ email }) => email)
        .filter(({ isOwner }) => !isOwner)
        .map(({ email, name, role }) => ({ email, name, role })),
    alertChannels: async () => channelItems(await state.channels(), names),
  };
  for (const section of sectionNames) if (sections.has(section)) file[section] = await read[section]();
  return file;
}

/** In one order, so that two exports of the same are the same text. */
function sorted<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Each reference gets a variable of its own. */
class References {
  readonly #taken = new Set<string>();

  to(...words: readonly string[]): string {
    for (let number = 1; ; number += 1) {
      const reference = referenceFor(...words, ...(number === 1 ? [] : [String(number)]));
      if (this.#taken.has(reference)) continue;
      this.#taken.add(reference);
      return reference;
    }
  }
}

function siteItem({ name, isDefault, settings }: ShownSite, say: Say): object {
  return {
    name,
    ...(isDefault ? { isDefault } : {}),
    settings: known(settings, siteSettings.shape, `the site ${name}`, say),
  };
}

/** A newer service has settings that this version does not know, and would refuse in a file. */
function known(settings: object, shape: object, of: string, say: Say): object {
  const unknown = Object.keys(settings).filter((name) => !Object.hasOwn(shape, name));
  if (unknown.length > 0) {
    say(`Left out of ${of}: ${unknown.join(', ')}. The service is newer than this command. Update it.`);
  }
  return Object.fromEntries(Object.entries(settings).filter(([name]) => Object.hasOwn(shape, name)));
}

async function instanceItems(
  state: ServiceState,
  names: References,
  { note, progress }: Pick<Given, 'note' | 'progress'>,
): Promise<object[]> {
  const sites = new Map((await state.sites()).map(({ siteKey, name }) => [siteKey, name]));
  const items: object[] = [];
  for (const instance of sorted(await state.instances(), ({ cname }) => cname)) {
    const { cname, name, globalSiteKey } = instance;
    const { version: _version, policies, limits, origins } = await state.policies(instance);
    items.push({
      cname,
      name,
      site: sites.get(globalSiteKey) ?? globalSiteKey,
      settings: known(behaviourOf(instance), instanceSettings.shape, `the instance ${cname}`, note),
      origins,
      limits,
      policies: policies.map(policyItem),
      lists: sorted(await state.lists(instance), (list) => list.name).map((list) => listItem(list, cname, names)),
      rules: await ruleItems(state, instance, progress('export')),
    });
  }
  return items;
}

function behaviourOf(instance: ProtectInstance): object {
  const { id: _id, active: _active, name: _name, cname: _cname, globalSiteKey: _key, ...rest } = instance;
  const {
    clientJwtsRevokedBefore: _revoked,
    version: _version,
    createdAt: _created,
    updatedAt: _updated,
    ...fields
  } = rest;
  return fields;
}

function policyItem({ name, description, when, then, mode }: Policy): object {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    when: printExpression(when),
    then,
    ...(mode === 'enforce' ? {} : { mode }),
  };
}

function listItem(list: ListStatus, cname: string, names: References): object {
  const { hasAuthorization, url, ...settings } = settingsOfList(list);
  const words = ['LIST', cname, list.name] as const;
  // The service shows no value of a query.
  const address = url?.split('***').reduce((text, part) => `${text}${names.to(...words, nameBefore(text))}${part}`);
  return {
    ...settings,
    url: address ?? null,
    ...(hasAuthorization ? { authorization: names.to(...words, 'AUTHORIZATION') } : {}),
  };
}

/** Of the value that follows: `key` of `?key=`. */
function nameBefore(address: string): string {
  return /[?&]([^=&]*)=$/.exec(address)?.[1] ?? 'VALUE';
}

/** Fields with their default are left out, so that a rule has one short line. */
async function ruleItems(state: ServiceState, instance: ProtectInstance, bar: ProgressBar): Promise<object[]> {
  let items: object[] = [];
  const begin = (): void => {
    items = [];
  };
  await state.rules(instance, begin, (rules, total) => {
    for (const rule of rules) items.push(ruleItem(rule));
    bar.at(items.length, total, `${items.length} of ${total} rules of ${instance.cname}`);
  });
  bar.end();
  return items;
}

function ruleItem({ type, value, verdict, mode, expiry, rollout, note }: EdgeRuleListed): object {
  return {
    type,
    value,
    verdict,
    ...(mode === 'enforce' ? {} : { mode }),
    ...(expiry === null ? {} : { expiry }),
    ...(rollout === 100 ? {} : { rollout }),
    ...(note === null ? {} : { note }),
  };
}

function channelItems(channels: ResponseAt<'/alerts/channels'>['channels'], names: References): object[] {
  const taken = new Set<string>();
  return sorted(channels, ({ name }) => name).map(({ name, shape, kinds, quietHours, enabled }) => {
    if (taken.has(name))
      throw new CommandError(`Two alert channels are named "${name}". Rename one in the console, then export again.`);
    taken.add(name);
    return { name, shape, webhookUrl: names.to('ALERT', name, 'URL'), kinds, quietHours, enabled };
  });
}

/** `compat`: a text such as NO or 1e3 gets quotes where any version of YAML reads it as something else. */
export function yamlText(file: Record<string, unknown>, schemaUrl: string): string {
  const document = new Document(file, {
    version: '1.2',
    schema: 'core',
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
  });
  document.commentBefore = ` yaml-language-server: $schema=${schemaUrl}\n What this file is: docs/configuration-file.md`;
  const instances = document.get('instances');
  for (const instance of isSeq(instances) ? instances.items : []) {
    const rules = isMap(instance)
      ? instance.items.find(({ key }) => isScalar(key) && key.value === 'rules')?.value
      : null;
    for (const rule of isSeq(rules) ? rules.items : []) if (isMap(rule)) rule.flow = true;
  }
  // Without quotes, some texts of several lines do not read back the same.
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string' && /[\r\n]/.test(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.POSITIVE_INFINITY });
}
