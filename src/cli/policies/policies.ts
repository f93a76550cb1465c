/** `gatehouse policies …` over the management API, of a local stack or a deployed service. */
import { printExpression } from '../../policies/text/print.ts';
import { argumentsOf, CommandError, usageOf } from '../command-line.ts';
import type { Arguments, CommandResult } from '../command-line.ts';
import { call, CallError, targetOf } from '../management-call.ts';
import type { Target } from '../management-call.ts';
import { readAction } from './action.ts';
import { policyCommands } from './commands.ts';
import { readCondition, readSetFile, readText } from './condition.ts';
import { readRequest } from './pasted-request.ts';
import { differenceLines, policyLines, reportLines } from './printed.ts';
import type { Differences, ListedPolicy, ReportedRule } from './printed.ts';

type Name = keyof typeof policyCommands;
type Run = (target: Target, operand: string, given: Arguments) => Promise<string>;

interface Listing {
  version: number;
  policies: ListedPolicy[];
  limits: unknown[];
}

interface Written {
  version: number;
  changed: boolean;
  dryRun: boolean;
  differences: Differences;
}

interface Imported extends Written {
  taken: number;
  takenWithADifference: number;
  notExpressible: number;
  rules: ReportedRule[];
  notes: string[];
}

const POLICIES = '/protect/policies';

const isCommand = (name: string): name is Name => Object.hasOwn(policyCommands, name);

/** `args`: the words of the command line, from `policies` on. `stateDir`: of the local stack. */
export async function run(args: readonly string[], stateDir = '.gatehouse'): Promise<CommandResult> {
  try {
    const name = args.slice(0, 2).join(' ');
    if (!isCommand(name)) {
      const lines = Object.entries(policyCommands).map((command) => `  ${usageOf(...command)}`);
      throw new CommandError(`There is no command "${name}". Use one of these:\n\n${lines.join('\n')}`);
    }
    const given = argumentsOf(name, policyCommands[name], args.slice(2));
    const operand = given.positionals[0] ?? '';
    if (name === 'policies check') return { exitCode: 0, output: checked(operand) };
    const target = targetOf(given.values['service'], given.values['site-key'], stateDir);
    return { exitCode: 0, output: await runs[name](target, operand, given) };
  } catch (error) {
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

function checked(condition: string): string {
  const when = readCondition(condition);
  return `${printExpression(when)}\n\n${JSON.stringify(when, null, 2)}`;
}

const runs: Readonly<Record<Exclude<Name, 'policies check'>, Run>> = {
  'policies list': async (target, _, { values, switches }) => {
    const body = { version: optionalNumber('--version', values['version']), hitsSince: values['hits-since'] };
    const listing = (await call(target, POLICIES, body)) as Listing;
    return switches.has('json') ? json(listing) : policyLines(listing.version, listing.policies);
  },
  'policies show': async (target, name) => json((await policyNamed(target, name)).policy),
  'policies set': async (target, path, given) => written(target, '/set', { ...readSetFile(path) }, given),
  'policies add': async (target, name, given) => {
    const { when = '', then = '', before } = given.values;
    const policy = { name, when: readCondition(when), then: readAction(then), ...settingsOf(given) };
    return written(target, '/add', { policy, before }, given);
  },
  'policies update': async (target, name, given) => {
    const { when, then, name: newName } = given.values;
    const { policy, version } = await policyNamed(target, name);
    const { text: _text, ...present } = policy as ListedPolicy & { hits?: unknown };
    const next = {
      ...present,
      ...(newName === undefined ? {} : { name: newName }),
      ...(when === undefined ? {} : { when: readCondition(when) }),
      ...(then === undefined ? {} : { then: readAction(then) }),
      ...settingsOf(given),
    };
    return written(target, '/update', { name, policy: next, ifVersion: version }, given);
  },
  'policies move': async (target, name, given) =>
    written(target, '/move', { name, before: given.values['before'] }, given),
  'policies remove': async (target, name, given) => written(target, '/remove', { name }, given),
  'policies test': async (target, word, { values }) => {
    const set = values['policies'] === undefined ? {} : readSetFile(values['policies']);
    return json(await call(target, `${POLICIES}/test`, { ...set, ...readRequest(word) }));
  },
  'policies preview': async (target, path, { values }) => {
    const { since, until } = values;
    return json(await call(target, `${POLICIES}/preview`, { ...readSetFile(path), since, until }));
  },
  'policies import': importFile,
  'policies history': async (target, _, { values }) =>
    json(await call(target, `${POLICIES}/history`, { limit: wholeNumber('--limit', values['limit'] ?? '50') })),
  'policies diff': async (target, version, { values, switches }) => {
    const body = { from: wholeNumber('VERSION', version), to: optionalNumber('--to', values['to']) };
    const { differences, ...between } = (await call(target, `${POLICIES}/diff`, body)) as Pick<
      Written,
      'differences'
    > & {
      from: number;
      to: number;
    };
    if (switches.has('json')) return json({ ...between, differences });
    const lines = differenceLines(differences);
    return lines.length === 0 ? `Versions ${between.from} and ${between.to} are the same.` : lines.join('\n');
  },
  'policies rollback': async (target, version, given) =>
    written(target, '/rollback', { version: wholeNumber('VERSION', version) }, given),
};

async function importFile(target: Target, path: string, given: Arguments): Promise<string> {
  const { format, mode, action, place } = given.values;
  const apply = given.switches.has('apply');
  const response = (await call(target, `${POLICIES}/import`, {
    format,
    content: readText(path),
    mode,
    action,
    place,
    apply,
    ...versionFields(given),
  })) as Imported;
  const { taken, takenWithADifference: differing, notExpressible: refused } = response;
  const lines = reportLines(response.rules, response.notes);
  const counts = `${taken} taken, ${differing} taken with a difference, ${refused} not taken.`;
  if (taken + differing === 0) throw new CallError([...lines, '', `${counts} Nothing was changed.`].join('\n'));
  const end = apply ? writtenLine(response) : 'Nothing was changed. Add --apply to take them.';
  return [...lines, '', `${counts} ${end}`].join('\n');
}

async function policyNamed(target: Target, name: string): Promise<{ policy: ListedPolicy; version: number }> {
  const { policies, version } = (await call(target, POLICIES, {})) as Listing;
  const policy = policies.find((one) => one.name === name);
  if (policy === undefined) throw new CallError(`There is no policy named "${name}".`);
  return { policy, version };
}

async function written(target: Target, path: string, body: object, given: Arguments): Promise<string> {
  const dryRun = given.switches.has('dry-run');
  const response = (await call(target, `${POLICIES}${path}`, { ...body, ...versionFields(given), dryRun })) as Written;
  return [...differenceLines(response.differences), writtenLine(response)].join('\n');
}

function writtenLine({ version, changed, dryRun }: Written): string {
  if (!changed) return `Nothing changes. The current version is ${version}.`;
  return dryRun ? `Nothing was changed: a dry run on version ${version}.` : `This is version ${version}.`;
}

function versionFields({ values }: Arguments): object {
  const ifVersion = optionalNumber('--if-version', values['if-version']);
  return { note: values['note'], ...(ifVersion === undefined ? {} : { ifVersion }) };
}

function settingsOf({ values: { description, mode } }: Arguments): object {
  return { ...(description === undefined ? {} : { description }), ...(mode === undefined ? {} : { mode }) };
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function optionalNumber(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : wholeNumber(name, text);
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new CallError(`${name} must be a whole number, not ${text}.`);
  return Number(text);
}
