/** `gatehouse policies …` over the management API, of a local stack or a deployed service. */
import { printExpression } from '../../policies/text/print.ts';
import type { Given } from '../command.ts';
import { optionalNumber, wholeNumber } from '../flag-values.ts';
import { call, CallError, type Target } from '../management-call.ts';
import { windowOf } from '../time-flag.ts';
import { readAction } from './action.ts';
import { readCondition, readSetFile, readText } from './condition.ts';
import { readRequest } from './pasted-request.ts';
import type { Differences, Imported, ListedPolicy, Written } from './printed.ts';
import type { Previewed, Tested } from './printed-tests.ts';

interface Listing {
  version: number;
  policies: ListedPolicy[];
  limits: unknown[];
}

interface Compared {
  from: number;
  to: number;
  differences: Differences;
}

const POLICIES = '/protect/policies';

export async function listed({ values, target }: Given): Promise<Listing> {
  const body = { version: optionalNumber('--version', values['version']), hitsSince: values['hits-since'] };
  return (await call(target(), POLICIES, body)) as Listing;
}

export async function shown(given: Given): Promise<ListedPolicy> {
  return (await policyNamed(given.target(), nameOf(given))).policy;
}

/** Both forms of a condition. It calls nothing. */
export async function checked(given: Given): Promise<{ text: string; expression: unknown }> {
  const when = readCondition(nameOf(given));
  return { text: printExpression(when), expression: when };
}

export function replaced(given: Given): Promise<Written> {
  return written(given, '/set', { ...readSetFile(nameOf(given)) });
}

export function added(given: Given): Promise<Written> {
  const { when = '', then = '', before } = given.values;
  const policy = { name: nameOf(given), when: readCondition(when), then: readAction(then), ...settingsOf(given) };
  return written(given, '/add', { policy, before });
}

export async function updated(given: Given): Promise<Written> {
  const { when, then, name: newName } = given.values;
  const name = nameOf(given);
  const { policy, version } = await policyNamed(given.target(), name);
  const { text: _text, ...present } = policy as ListedPolicy & { hits?: unknown };
  const next = {
    ...present,
    ...(newName === undefined ? {} : { name: newName }),
    ...(when === undefined ? {} : { when: readCondition(when) }),
    ...(then === undefined ? {} : { then: readAction(then) }),
    ...settingsOf(given),
  };
  return written(given, '/update', { name, policy: next, ifVersion: version });
}

export function moved(given: Given): Promise<Written> {
  return written(given, '/move', { name: nameOf(given), before: given.values['before'] });
}

export function removed(given: Given): Promise<Written> {
  return written(given, '/remove', { name: nameOf(given) });
}

export function tested(given: Given): Promise<Tested> {
  const set = given.values['policies'] === undefined ? {} : readSetFile(given.values['policies']);
  const body = { ...set, ...readRequest(nameOf(given)) };
  return call(given.target(), `${POLICIES}/test`, body) as Promise<Tested>;
}

export function previewed(given: Given): Promise<Previewed> {
  const body = { ...readSetFile(nameOf(given)), ...windowOf(given.values) };
  return call(given.target(), `${POLICIES}/preview`, body) as Promise<Previewed>;
}

export function imported(given: Given): Promise<Imported> {
  const { format, mode, action, place } = given.values;
  const body = { format, content: readText(nameOf(given)), mode, action, place, apply: given.switches.has('apply') };
  return call(given.target(), `${POLICIES}/import`, { ...body, ...versionFields(given) }) as Promise<Imported>;
}

export function history(given: Given): Promise<unknown> {
  const limit = wholeNumber('--limit', given.values['limit'] ?? '50');
  return call(given.target(), `${POLICIES}/history`, { limit });
}

export function compared(given: Given): Promise<Compared> {
  const body = { from: wholeNumber('VERSION', nameOf(given)), to: optionalNumber('--to', given.values['to']) };
  return call(given.target(), `${POLICIES}/diff`, body) as Promise<Compared>;
}

export function rolledBack(given: Given): Promise<Written> {
  return written(given, '/rollback', { version: wholeNumber('VERSION', nameOf(given)) });
}

/** The one operand: the name of a policy, a file, a version. */
function nameOf({ positionals: [operand = ''] }: Given): string {
  return operand;
}

async function policyNamed(target: Target, name: string): Promise<{ policy: ListedPolicy; version: number }> {
  const { policies, version } = (await call(target, POLICIES, {})) as Listing;
  const policy = policies.find((one) => one.name === name);
  if (policy === undefined) throw new CallError(`There is no policy named "${name}".`);
  return { policy, version };
}

function written(given: Given, path: string, body: object): Promise<Written> {
  const dryRun = given.switches.has('dry-run');
  return call(given.target(), `${POLICIES}${path}`, { ...body, ...versionFields(given), dryRun }) as Promise<Written>;
}

function versionFields({ values }: Given): object {
  const ifVersion = optionalNumber('--if-version', values['if-version']);
  return { note: values['note'], ...(ifVersion === undefined ? {} : { ifVersion }) };
}

function settingsOf({ values: { description, mode } }: Given): object {
  return { ...(description === undefined ? {} : { description }), ...(mode === undefined ? {} : { mode }) };
}
