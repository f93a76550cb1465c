/** The fields of a limit as people type them, what is wrong with them, and the limit that they mean. */
import { TEST_NAME_MAX_CHARS } from '../../../contract/management/policy-set/policy-fields.ts';
import { limitKeyFacts } from '../../../contract/vocabulary.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { type FormSchemas, inUnits, problemIn, type Problems, rangeText } from '../../settings/setting-schema.ts';
import type { ListedLimit } from './limit-set.ts';

export const KEY_PARTS_MAX = forms.limit.key.maxItems;
/** A wrong solution can be sent without anything else. */
const OF_THE_NETWORK: readonly string[] = ['ip', 'prefix', 'asn', 'country'];

export const windowUnits = { seconds: 1, minutes: 60, hours: 3600 } as const;
export type WindowUnit = keyof typeof windowUnits;

export const countedEvents = ['request', 'loginFailed', 'challengeFailed', 'status'] as const;
export type CountedEvent = (typeof countedEvents)[number];

export interface LimitDraft extends Pick<ListedLimit, 'algorithm' | 'then' | 'exact' | 'mode'> {
  name: string;
  count: string;
  window: string;
  unit: WindowUnit;
  on: CountedEvent;
  /** `401` or `4xx`, where statuses are counted. */
  status: string;
  key: readonly string[];
  /** Further parts of the key, with commas between. */
  headers: string;
  cookies: string;
  ifUnreachable: 'open' | 'closed';
  /** Of a failed login. */
  loginStatuses: string;
  loginHeader: string;
  loginHeaderValue: string;
  usernameField: string;
}

export const emptyDraft: LimitDraft = {
  name: '',
  count: '10',
  window: '1',
  unit: 'minutes',
  on: 'request',
  status: '4xx',
  key: ['ip'],
  headers: '',
  cookies: '',
  algorithm: 'sliding',
  then: '429',
  exact: false,
  ifUnreachable: 'open',
  mode: 'monitor',
  loginStatuses: '401',
  loginHeader: '',
  loginHeaderValue: '',
  usernameField: '',
};

export function limitDraftOf(limit: ListedLimit): LimitDraft {
  const { name, count, windowSeconds, on, key, algorithm, then, exact, ifUnreachable, mode, loginFailed } = limit;
  const unit = (['hours', 'minutes', 'seconds'] as const).find((one) => windowSeconds % windowUnits[one] === 0)!;
  const named = (field: string): string =>
    key.flatMap((part) => (part.startsWith(`${field}:`) ? [part.slice(field.length + 1)] : [])).join(', ');
  return {
    name,
    count: String(count),
    window: String(windowSeconds / windowUnits[unit]),
    unit,
    on: on.startsWith('status:') ? 'status' : (on as CountedEvent),
    status: on.startsWith('status:') ? on.slice('status:'.length) : emptyDraft.status,
    key,
    headers: named('header'),
    cookies: named('cookie'),
    algorithm,
    then,
    exact,
    ifUnreachable: ifUnreachable ?? 'open',
    mode,
    loginStatuses: loginFailed === undefined ? emptyDraft.loginStatuses : (loginFailed.status ?? []).join(', '),
    loginHeader: loginFailed?.header?.name ?? '',
    loginHeaderValue: loginFailed?.header?.value ?? '',
    usernameField: loginFailed?.usernameField ?? '',
  };
}

/** The parts of the key that stay keep their order: another order is another key, and counts begin anew. */
export function keyOf({ key, headers, cookies }: LimitDraft): string[] {
  const facts = key.filter((part) => (limitKeyFacts as readonly string[]).includes(part));
  const named = [
    ...namesIn(headers).map((name) => `header:${name}`),
    ...namesIn(cookies).map((name) => `cookie:${name}`),
  ];
  const wanted = [...facts, ...named];
  return [...key.filter((part) => wanted.includes(part)), ...wanted.filter((part) => !key.includes(part))];
}

/** A part of the key chosen or not. A limit by user begins with a challenge, as in the API: a refusal locks the user out. */
export function withKeyPart({ key, then }: LimitDraft, part: string, isChosen: boolean): Partial<LimitDraft> {
  if (!isChosen) return { key: key.filter((other) => other !== part) };
  return { key: [...key, part], then: part === 'user' ? 'challenge' : then };
}

/** Whether the form asks what a failed login is. */
export function needsLogin({ on, key }: Pick<LimitDraft, 'on' | 'key'>): boolean {
  return on === 'loginFailed' || key.includes('user');
}

/** What the API says of the fields. */
export function limitSchemas(draft: LimitDraft): FormSchemas<LimitDraft> {
  const { name, count, windowSeconds } = forms.limit;
  const window = inUnits(windowSeconds, windowUnits[draft.unit]);
  if (!needsLogin(draft)) return { name, count, window };
  const { usernameField } = forms.failedLogin;
  const { value: loginHeaderValue } = forms.failedLoginHeader;
  return { name, count, window, usernameField, loginHeader: { maxLength: TEST_NAME_MAX_CHARS }, loginHeaderValue };
}

/** What one field's schema does not say. The service checks everything else. */
export function limitProblems(draft: LimitDraft, taken: readonly string[]): Problems<LimitDraft> {
  const { name, status, on, loginStatuses, loginHeader, usernameField } = draft;
  const parts = keyOf(draft);
  const isLogin = needsLogin(draft);
  const statuses = statusesIn(loginStatuses);
  const { maxItems, items } = forms.failedLogin.status;
  const found: [keyof LimitDraft, string | false][] = [
    ['name', taken.includes(name.trim()) && 'The instance has a limit with this name.'],
    [
      'status',
      on === 'status' &&
        problemIn(forms.limit.on, `status:${status.trim()}`) !== null &&
        'Such as 401, or 4xx for all of them.',
    ],
    ['key', parts.length === 0 && 'Choose one at least.'],
    [
      'key',
      on === 'challengeFailed' &&
        parts.some((part) => !OF_THE_NETWORK.includes(part)) &&
        'Challenges that were not solved are counted by address, network, AS number and country only.',
    ],
    ['key', parts.length > KEY_PARTS_MAX && `Choose ${KEY_PARTS_MAX} at most, headers and cookies included.`],
    [
      'loginStatuses',
      isLogin &&
        (statuses.length > maxItems || statuses.some((one) => problemIn(items, String(one)) !== null)) &&
        `Up to ${maxItems} statuses from ${rangeText(items)}, with commas between.`,
    ],
    [
      'loginStatuses',
      isLogin && statuses.length === 0 && loginHeader.trim() === '' && 'Name a status here, or a header below.',
    ],
    ['usernameField', draft.key.includes('user') && usernameField.trim() === '' && 'Needed to count by the user name.'],
  ];
  const problems: Partial<Record<keyof LimitDraft, string>> = {};
  for (const [field, message] of found) if (message !== false) problems[field] ??= message;
  return problems;
}

/** Of a draft without problems. Only requests are counted before they pass, so nothing else can be exact. */
export function limitOf(draft: LimitDraft): ListedLimit {
  const { name, algorithm, then, mode, on, ifUnreachable, usernameField } = draft;
  const exact = draft.exact && on === 'request';
  const statuses = statusesIn(draft.loginStatuses);
  const header = draft.loginHeader.trim();
  const value = draft.loginHeaderValue;
  const loginFailed = {
    ...(statuses.length === 0 ? {} : { status: statuses }),
    ...(header === '' ? {} : { header: { name: header, ...(value === '' ? {} : { value }) } }),
    ...(usernameField.trim() === '' ? {} : { usernameField: usernameField.trim() }),
  };
  return {
    name: name.trim(),
    key: keyOf(draft),
    count: Number(draft.count),
    windowSeconds: Number(draft.window) * windowUnits[draft.unit],
    algorithm,
    on: on === 'status' ? `status:${draft.status.trim()}` : on,
    then,
    exact,
    ...(exact ? { ifUnreachable } : {}),
    mode,
    ...(needsLogin(draft) ? { loginFailed } : {}),
  };
}

function namesIn(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

function statusesIn(text: string): number[] {
  return namesIn(text).map(Number);
}
