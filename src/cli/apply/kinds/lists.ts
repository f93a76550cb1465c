/**
 * Lists of an instance, by name. The service never returns the header of a list, nor the values in its address: they are
 * sent when the list is made, when its source changes, and when the operator asks for it.
 */
import type { ProtectInstance } from '../../../contract/management/instance-settings.ts';
import { listDefaults } from '../../../contract/management/list-defaults.ts';
import { settingsErrors, type ListSettings, type ListStatus } from '../../../contract/management/lists.ts';
import { parseSelector } from '../../../lists/selector.ts';
import { shownUrl } from '../../../service/http/shown-url.ts';
import type { FileList } from '../config-schema.ts';
import { differing, planDeletions, type PlannedChange, type Planning } from '../plan.ts';
import type { At, WantedInstance } from '../read-config.ts';
import { resolved, withHiddenReferences } from '../secret-reference.ts';
import { settingsOfList } from '../service-state.ts';

export async function planLists(
  planning: Planning,
  { cname, path, lists }: WantedInstance,
  instance: ProtectInstance | null,
): Promise<void> {
  if (lists === undefined) return;
  const { state } = planning;
  const current = new Map((instance === null ? [] : await state.lists(instance)).map((list) => [list.name, list]));
  for (const [name, list] of lists) planList(planning, cname, list, current.get(name) ?? null);
  const unnamed = [...current.values()].filter(({ name }) => !lists.has(name));
  planDeletions(planning, unnamed, {
    kind: 'list',
    of: cname,
    path: [...path, 'lists'],
    isEmpty: lists.size === 0,
    nameOf: ({ name }) => name,
    remove: ({ name }, made) => state.call('/protect/lists/delete', { name }, { siteKey: made.instanceKeyOf(cname) }),
  });
}

function planList(planning: Planning, cname: string, list: At<FileList>, current: ListStatus | null): void {
  const { state, plan, report, options } = planning;
  const { path: _path, name, authorization, ...given } = list;
  checkFields(report, list, current);
  const shown = given.url === undefined || given.url === null ? given : { ...given, url: shownAddress(given.url) };
  const known = current === null ? null : settingsOfList(current);
  const changed = known === null ? { before: {}, after: shown } : differing(shown, known);
  const wantsSecret = authorization !== undefined && authorization !== null;
  const isOtherHeader = authorization !== undefined && wantsSecret !== (current?.hasAuthorization ?? false);
  const isOtherSource = current === null || changed?.after.url !== undefined;
  const hasSecret = wantsSecret || (typeof given.url === 'string' && shownAddress(given.url) !== given.url);
  const sendsSecret = hasSecret && (isOtherSource || isOtherHeader || options.sendSecrets);
  if (changed === null && !isOtherHeader && !sendsSecret) {
    plan.keep();
    return;
  }
  const secret =
    isOtherHeader || (wantsSecret && sendsSecret) ? { authorization: wantsSecret ? '(secret)' : null } : {};
  const body: Record<string, unknown> = { ...changed?.after };
  if ('url' in body || (sendsSecret && given.url !== undefined)) body['url'] = address(planning, list);
  if ('authorization' in secret) body['authorization'] = wantsSecret ? header(planning, list) : null;
  const action = current === null ? 'create' : 'change';
  const change: PlannedChange = {
    kind: 'list',
    of: cname,
    name,
    action,
    before: current === null ? null : { ...changed?.before, ...formerSecret(secret, current) },
    after: { ...changed?.after, ...secret },
  };
  const operation = current === null ? 'create' : 'update';
  plan.addChange('lists', change, (made) =>
    state.call(`/protect/lists/${operation}`, { name, ...body }, { siteKey: made.instanceKeyOf(cname) }),
  );
}

function formerSecret(secret: object, { hasAuthorization }: ListStatus): object {
  return 'authorization' in secret ? { authorization: hasAuthorization ? '(another secret)' : null } : {};
}

/** As the service shows it: no value of the query. */
function shownAddress(url: string): string {
  return shownUrl(withHiddenReferences(url));
}

function address({ report, environment }: Planning, { path, url }: At<FileList>): string | null {
  if (url === undefined || url === null) return null;
  const found = resolved(url, environment);
  if (!found.ok) report.add([...path, 'url'], found.error);
  else if (shownUrl(found.value) === shownAddress(url)) return found.value;
  else
    report.add(
      [...path, 'url'],
      'refers to a variable with characters that end a value, such as & and =. Percent-encode them in the variable',
    );
  return null;
}

/** `authorization: ${ENV:NAME}` has the whole line in its variable: `X-Api-Key: value`. */
function header({ report, environment }: Planning, { path, authorization }: At<FileList>): object | null {
  const isLine = typeof authorization === 'string';
  const found = resolved(isLine ? authorization : (authorization?.value ?? ''), environment);
  if (!found.ok) {
    report.add([...path, 'authorization'], found.error);
    return null;
  }
  if (!isLine) return { header: authorization?.header, value: found.value };
  const [, name, value] = /^([A-Za-z0-9-]{1,64}):\s*(.+)$/.exec(found.value) ?? [];
  if (name !== undefined) return { header: name, value };
  report.add([...path, 'authorization'], 'must refer to a variable with a whole header, such as X-Api-Key: value');
  return null;
}

function checkFields(report: Planning['report'], { path, ...given }: At<FileList>, current: ListStatus | null): void {
  const fields = Object.entries(given).filter(([, value]) => value !== undefined);
  const settings = { ...(current ?? listDefaults), ...Object.fromEntries(fields) } as ListSettings;
  for (const { path: field, message } of settingsErrors(settings)) report.add([...path, field], message);
  const selector = parseSelector(settings.selector ?? '');
  if (!selector.ok) report.add([...path, 'selector'], selector.error);
}
