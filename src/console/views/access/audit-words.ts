/** The audit trail in words: what somebody did, as a sentence, and what changed, in the words of the forms. */
import { isJsonObject } from '../../../bytes/json.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { count, counted } from '../../format/numbers.ts';
import { localTime } from '../../format/times.ts';
import { settingLabel, unitOf, valueText } from '../../settings/setting-words.ts';
import { deeds, SAID_FIRST } from './audit-deeds.ts';
import {
  actionWords,
  algorithmWords,
  eventWords,
  keyPartWords,
  unreachableWords,
  windowText,
} from '../limits/limit-words.ts';
import { actionText, type ListedAction } from '../policies/policy.ts';
import { featurePermissions, type Permission } from '../../../contract/management/permissions.ts';
import { permissionLabel } from './permission-words.ts';

export type AuditEntry = Pick<
  ResponseOf<'/audit-trail/get'>['entries'][number],
  'operation' | 'apiKeyName' | 'userEmail' | 'userName' | 'body' | 'changes'
>;
type Changes = NonNullable<AuditEntry['changes']>;
type Item = Changes['items'][number];

interface ChangedItem {
  kind: string;
  name: string;
  change: Item['change'];
  fields: readonly { field: string; before?: unknown; after?: unknown }[];
}

export interface ChangedLine {
  label: string;
  /** `null`: there was nothing. */
  before: string | null;
  /** `null`: there is nothing any more. */
  after: string | null;
}

/** A person by their name, else the key; the service has neither. */
export function actorOf({ userName, userEmail, apiKeyName }: AuditEntry): string {
  return userName ?? userEmail ?? apiKeyName ?? 'Gatehouse';
}

/** Such as `changed the rule 192.0.2.0/24 from challenge to block`. It follows who did it. */
export function deedOf({ operation, changes, body }: AuditEntry): string {
  const sent = isJsonObject(body) ? body : {};
  const counts = (changes?.counts ?? []).filter(({ change }) => change !== 'named');
  const [item] = changes?.items ?? [];
  const done = sent['dryRun'] === true ? 'tried a change of the policies' : (deeds[operation] ?? 'changed something');
  if (counts.length === 0 || item === undefined) return withReason(withName(done, item), sent['reason']);
  const isOne = counts.length === 1 && counts[0]?.count === 1;
  const changed = isOne ? oneChange(item) : listed(counts.map(countText));
  if (!SAID_FIRST.has(operation)) return changed;
  const { version } = sent;
  const first = typeof version === 'number' ? done.replace('an earlier version', `version ${version}`) : done;
  return `${first}: ${changed}`;
}

/** `added a site` → `added the site Shop`. */
function withName(done: string, item: Item | undefined): string {
  if (item === undefined) return done;
  const { kind, name } = item;
  if (kind === 'attack mode') return `${done} for ${name}`;
  // A function, because a name may have a `$`.
  return done.replace(new RegExp(`\\ban? ${kind}\\b`), () => `the ${kind} ${name}`);
}

function withReason(done: string, reason: unknown): string {
  return typeof reason === 'string' ? `${done}, because ${reason}` : done;
}

function oneChange({ kind, name, change, fields }: Item): string {
  const [field] = fields;
  if (kind === 'attack mode') {
    const isSwitched = fields.some((one) => one.field === 'active');
    const isOn = fields.some((one) => one.field === 'active' && one.after === true);
    return `${isSwitched ? `switched attack mode ${isOn ? 'on' : 'off'}` : 'changed attack mode'} for ${name}`;
  }
  const thing = `${change} the ${kind} ${name}`;
  if (field === undefined) return change === 'changed' ? `saved the ${kind} ${name} without a change` : thing;
  // A decision, and how far it counts, is what the thing is for.
  const says = fields.find((one) => one.field === 'verdict' || one.field === 'then');
  if (says === undefined) return thing;
  const [before, after] = [valueWords(says.field, says.before), valueWords(says.field, says.after)];
  if (change === 'changed') return `${thing} from ${before} to ${after}`;
  return kind === 'rule' ? `${change} the ${after ?? before} rule ${name}` : thing;
}

const PLURALS: Readonly<Record<string, string>> = { policy: 'policies', person: 'people' };

function countText({ kind, change, count: many }: Changes['counts'][number]): string {
  return `${change} ${counted(many, kind, PLURALS[kind])}`;
}

function listed(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}

/** Labels of forms other than those of settings. With the kind where two forms differ. */
const labels: Readonly<Record<string, string>> = {
  verdict: 'Verdict',
  'list.verdict': 'Its entries say',
  mode: 'Mode',
  expiry: 'Until',
  until: 'Until',
  rollout: 'Percent of visitors',
  note: 'Note',
  when: 'Condition',
  then: 'Action',
  'limit.then': 'Above it a request gets',
  description: 'Description',
  key: 'Counted for each',
  count: 'At most',
  windowSeconds: 'Within',
  on: 'Counts',
  algorithm: 'Uses come back',
  exact: 'Never one too many (exact)',
  ifUnreachable: 'While the counter does not answer, requests',
  'loginFailed.status': 'Statuses',
  'loginFailed.usernameField': 'Field with the user name',
  url: 'Address',
  host: 'Host of its address',
  format: 'Format',
  column: 'Column',
  selector: 'Selector',
  intervalMinutes: 'Minutes between fetches',
  expirySeconds: 'Without a good reading it has no effect after',
  maxChangePercent: 'Largest change of one reading',
  includeReserved: 'Take private and other reserved networks too',
  shape: 'Shape',
  kinds: 'Only these alerts',
  enabled: 'Send alerts there',
  'quietHours.from': 'Quiet from',
  'quietHours.until': 'Quiet until',
  'quietHours.timeZone': 'Time zone of the quiet hours',
  'quietHours.except': 'Kinds that do not wait',
  behaviours: 'Comes for',
  patterns: 'Texts in its user agent',
  tokens: 'Names in robots.txt',
  networks: 'Networks that it comes from',
  isComplete: 'It comes from nowhere else',
  email: 'Email',
  role: 'Role',
  permissions: 'Permissions',
  'access control rule.type': 'What it does',
  'access control rule.captchaType': 'Captcha',
  ruleGroupId: 'Group',
  active: 'Attack mode is on',
  trigger: 'When an attack is noticed',
  minimumRate: 'Requests a second below which nothing is an attack',
  isDefault: 'Default site of the account',
  clientJwtsRevokedBefore: 'Client JWTs are revoked that were issued up to',
};
const OF_SETTINGS: ReadonlySet<string> = new Set(['site', 'instance']);
/** Of a site and an instance, what is no setting. */
const NO_SETTINGS: ReadonlySet<string> = new Set(['isDefault', 'clientJwtsRevokedBefore']);

function labelOf(kind: string, field: string): string {
  if (OF_SETTINGS.has(kind) && !NO_SETTINGS.has(field)) return settingLabel(field);
  return labels[`${kind}.${field}`] ?? labels[field] ?? settingLabel(field);
}

export function linesOf({ kind, change, fields }: ChangedItem): ChangedLine[] {
  return fields.map(({ field, before, after }) => ({
    label: labelOf(kind, field),
    before: change === 'deleted' ? null : valueWords(field, before),
    // Of what is gone, what it was.
    after: valueWords(field, change === 'deleted' ? before : after),
  }));
}

/** Names of things that people never see, and what is no value. */
const UNSHOWN =
  /^(?:id|siteKey|accountId|channelId|apiKeyId|jti|protectInstanceId|userScopeHash|ifVersion|dryRun|apply|cursor|reason|settings)$/;

/** Of an entry that is older than the record of what changed: what was sent. */
export function sentLines(body: unknown): ChangedLine[] {
  if (!isJsonObject(body)) return [];
  const { settings } = body;
  const fields = { ...body, ...(isJsonObject(settings) ? settings : {}) };
  return Object.entries(fields).flatMap(([field, value]) => {
    const after = valueWords(field, value);
    return UNSHOWN.test(field) || after === null ? [] : [{ label: labelOf('', field), before: null, after }];
  });
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
/** Above it a number is a time. */
const TIME_FROM = 1e12;

function valueWords(field: string, value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return numberWords(field, value);
  if (field === 'permissions' && isPermission(value)) return permissionLabel(value);
  if (typeof value === 'string') return textWords(field, value);
  if (Array.isArray(value)) {
    const isPlain = value.every((one) => typeof one !== 'object');
    return value.map((one) => valueWords(field, one)).join(isPlain ? ', ' : '; ');
  }
  if (!isJsonObject(value)) return null;
  if (field === 'then') return actionText(value as ListedAction);
  return Object.entries(value)
    .flatMap(([name, one]) => {
      const words = valueWords(name, one);
      return words === null || UNSHOWN.test(name) ? [] : [`${labelOf('', `${field}.${name}`)}: ${words}`];
    })
    .join(', ');
}

/** Of fields whose values are choices of a form. */
const choices: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  on: eventWords,
  then: actionWords,
  algorithm: algorithmWords,
  ifUnreachable: unreachableWords,
};

function textWords(field: string, value: string): string {
  if (ISO_TIME.test(value)) return localTime(Date.parse(value));
  if (field === 'key') return keyPartWords(value);
  if (field === 'on' && value.startsWith('status:')) return `${eventWords.status}, ${value.slice('status:'.length)}`;
  return choices[field]?.[value] ?? valueText(value);
}

const permissions: ReadonlySet<unknown> = new Set(Object.values(featurePermissions).flat());
const isPermission = (value: unknown): value is Permission => permissions.has(value);

function numberWords(field: string, value: number): string {
  if (value > TIME_FROM) return localTime(value);
  const unit = unitOf(field);
  if (unit === 'seconds') return windowText(value);
  return unit === null ? count(value) : `${count(value)} ${unit}`;
}
