/** The commands `gatehouse policies …` over the management API, of a local stack or a deployed service. */
import { createInterface } from 'node:readline';
import { printExpression } from '../../policies/text/print.ts';
import { type Command, command, instanceCommand, type Commands, type Given } from '../command.ts';
import type { TakenBack } from '../print/printed-command.ts';
import { optionalNumber, typedNumber, windowFields } from '../flag-values.ts';
import { callService, CallError, type ResponseAt, type ServiceTarget } from '../management-call.ts';
import { CommandError } from '../command-line.ts';
import {
  comparedLines,
  differenceLines,
  importLines,
  policyLines,
  previewLines,
  testLines,
  removedNames,
  writtenLines,
} from './printed.ts';
import { readAction, typedCondition, readRequest, readSetFile, policyFileText } from './read.ts';

const POLICIES = '/protect/policies';
const writeFlags = { note: 'TEXT', 'if-version': 'N' };
const rule = { description: 'TEXT', mode: 'enforce|monitor' };

type Write = 'set' | 'add' | 'update' | 'move' | 'remove' | 'rollback';
export type Written = ResponseAt<`/protect/policies/${Write}`> & TakenBack;

/** A command that makes a new version. */
export function writeCommand(entry: Omit<Command<Written>, 'on' | 'print'>): Command {
  const optional = { ...entry.optional, ...writeFlags };
  const switches = ['dry-run', ...(entry.switches ?? [])];
  return instanceCommand({ ...entry, optional, switches, print: writtenLines });
}

export const policyCommands: Commands = {
  'policies list': instanceCommand({
    about: 'Lists the policies in their order, or those of an earlier version.',
    example: 'policies list',
    optional: { version: 'N', 'hits-since': 'TIME' },
    run: ({ values, target }) => {
      const body = { version: optionalNumber('--version', values['version']), hitsSince: values['hits-since'] };
      return callService(target(), POLICIES, body);
    },
    print: policyLines,
  }),
  'policies show': instanceCommand({
    about: 'Shows one policy as JSON.',
    example: 'policies show NAME',
    positionals: ['NAME'],
    run: async (given) => (await policyNamed(given.target(), operandOf(given))).policy,
    print: (policy) => [JSON.stringify(policy, null, 2)],
  }),
  'policies set': writeCommand({
    about:
      'Replaces the policies, limits and origins by those of a JSON file. It asks before it removes any; --yes does not ask. FILE may be - for standard input.',
    example: 'policies set set.json --yes',
    positionals: ['FILE'],
    switches: ['yes'],
    run: replaced,
  }),
  'policies add': writeCommand({
    about:
      'Adds a policy at the end, or before another one. ACTION is such as block, "challenge 2" or "redirect /x 302".',
    example: `policies add shop-bots --when 'path startsWith "/shop"' --then challenge`,
    positionals: ['NAME'],
    required: { when: 'CONDITION', then: 'ACTION' },
    optional: { before: 'NAME', ...rule },
    run: (given) => {
      const { when = '', then = '', before } = given.values;
      const name = operandOf(given);
      const policy = { name, when: typedCondition(when), then: readAction(then), ...settingsOf(given) };
      return written(given, 'add', { policy, before }, `policies remove ${name}`);
    },
  }),
  'policies update': writeCommand({
    about: 'Changes what is given of a policy, and keeps the rest.',
    example: 'policies update NAME --mode enforce',
    positionals: ['NAME'],
    optional: { when: 'CONDITION', then: 'ACTION', name: 'NAME', ...rule },
    run: updated,
  }),
  'policies move': writeCommand({
    about: 'Puts a policy before another one, or at the end.',
    example: 'policies move NAME',
    positionals: ['NAME'],
    optional: { before: 'NAME' },
    run: (given) => written(given, 'move', { name: operandOf(given), before: given.values['before'] }),
  }),
  'policies remove': writeCommand({
    about: 'Removes a policy.',
    example: 'policies remove NAME',
    positionals: ['NAME'],
    run: (given) => written(given, 'remove', { name: operandOf(given) }),
  }),
  'policies check': command({
    about: 'Checks a condition without a service, and prints both of its forms.',
    example: `policies check 'path startsWith "/api"'`,
    on: 'machine',
    isDocument: true,
    positionals: ['CONDITION'],
    run: async (given) => {
      const expression = typedCondition(operandOf(given));
      return { text: printExpression(expression), expression };
    },
    print: ({ text, expression }) => [text, '', JSON.stringify(expression, null, 2)],
  }),
  'policies test': instanceCommand({
    about:
      'Says which policies apply to a request: its reference in the log, an address, or a file with a request as JSON, HTTP or a curl command (- for standard input).',
    example: 'policies test https://www.example.com/login',
    positionals: ['REQUEST'],
    optional: { policies: 'FILE' },
    run: (given) => {
      const { policies } = given.values;
      const set = policies === undefined ? {} : readSetFile(policies);
      return callService(given.target(), `${POLICIES}/test`, { ...set, ...readRequest(operandOf(given)) });
    },
    print: testLines,
  }),
  'policies preview': instanceCommand({
    about: 'Says what the requests of the last day, or since TIME, would have got under the policies of a JSON file.',
    example: 'policies preview strict.json',
    positionals: ['FILE'],
    optional: { since: 'TIME', until: 'TIME' },
    run: (given) => {
      const body = { ...readSetFile(operandOf(given)), ...windowFields(given.values) };
      return callService(given.target(), `${POLICIES}/preview`, body);
    },
    print: previewLines,
  }),
  'policies import': instanceCommand({
    about:
      'Reads rules of another product and reports on each. Without --apply nothing changes. New policies are in mode monitor, and challenge, unless the flags or the rules say otherwise.',
    example: 'policies import rules.txt --format cloudflare',
    positionals: ['FILE'],
    required: { format: 'cloudflare|anubis' },
    optional: { mode: 'enforce|monitor', action: 'allow|challenge|block', place: 'end|start|replace', ...writeFlags },
    switches: ['apply'],
    run: (given) => {
      const { format, mode, action, place } = given.values;
      const content = policyFileText(operandOf(given));
      const body = { format, content, mode, action, place, apply: given.switches.has('apply') };
      return callService(given.target(), `${POLICIES}/import`, { ...body, ...versionFields(given) });
    },
    print: importLines,
    exitCode: ({ taken, takenWithADifference }) => (taken + takenWithADifference === 0 ? 1 : 0),
  }),
  'policies history': instanceCommand({
    about: 'Lists the versions that are kept, 50 unless --limit says otherwise.',
    example: 'policies history',
    optional: { limit: 'N' },
    run: (given) => {
      const limit = typedNumber('--limit', given.values['limit'] ?? '50');
      return callService(given.target(), `${POLICIES}/history`, { limit });
    },
  }),
  'policies diff': instanceCommand({
    about: 'Compares a version with the current one, or with --to.',
    example: 'policies diff 1',
    positionals: ['VERSION'],
    optional: { to: 'N' },
    run: (given) => {
      const body = { from: typedNumber('VERSION', operandOf(given)), to: optionalNumber('--to', given.values['to']) };
      return callService(given.target(), `${POLICIES}/diff`, body);
    },
    print: comparedLines,
  }),
  'policies rollback': writeCommand({
    about: 'Makes the policies what they were at a version of the history.',
    example: 'policies rollback 1',
    positionals: ['VERSION'],
    run: (given) => written(given, 'rollback', { version: typedNumber('VERSION', operandOf(given)) }),
  }),
};

/** The one operand: the name of a policy, a file, a version. */
function operandOf({ positionals: [operand = ''] }: Given): string {
  return operand;
}

async function replaced(given: Given): Promise<Written> {
  const { switches, target, stdin, note } = given;
  const file = operandOf(given);
  const set = readSetFile(file);
  if (switches.has('dry-run') || switches.has('yes')) return written(given, 'set', set);
  const { differences, version } = await callService(target(), `${POLICIES}/set`, { ...set, dryRun: true });
  const removed = removedNames(differences);
  if (removed.length > 0) {
    const loss = `policies set would remove ${removed.join(', ')}.`;
    if (stdin.isTTY !== true || file === '-')
      throw new CommandError(
        `${loss} Nothing was changed. Add --yes to remove them, or add to what is there with policies add or limits add.`,
      );
    for (const line of differenceLines(differences)) note(line);
    note(`${loss} Type yes to go on:`);
    if (!(await saysYes(stdin))) throw new CommandError('Nothing was changed.');
  }
  return written(given, 'set', { ...set, ifVersion: version });
}

async function saysYes(stdin: Given['stdin']): Promise<boolean> {
  for await (const line of createInterface({ input: stdin })) return line.trim() === 'yes';
  return false;
}

async function updated(given: Given): Promise<Written> {
  const { when, then, name: newName } = given.values;
  const name = operandOf(given);
  const { policy, version } = await policyNamed(given.target(), name);
  const { text: _text, ...present } = policy;
  const next = {
    ...present,
    ...(newName === undefined ? {} : { name: newName }),
    ...(when === undefined ? {} : { when: typedCondition(when) }),
    ...(then === undefined ? {} : { then: readAction(then) }),
    ...settingsOf(given),
  };
  return written(given, 'update', { name, policy: next, ifVersion: version });
}

async function policyNamed(target: ServiceTarget, name: string) {
  const { policies, version } = await callService(target, POLICIES, {});
  const policy = policies.find((one) => one.name === name);
  if (policy === undefined) throw new CallError(`There is no policy named "${name}".`);
  return { policy, version };
}

/** `way`: the command that takes it back. Without one, it is the version before: each write makes one. */
export async function written(given: Given, write: Write, body: object, way?: string): Promise<Written> {
  const dryRun = given.switches.has('dry-run');
  const answer = await callService(given.target(), `${POLICIES}/${write}`, {
    ...body,
    ...versionFields(given),
    dryRun,
  });
  if (!answer.changed || dryRun) return answer;
  return { ...answer, takeBack: given.typed(way ?? `policies rollback ${answer.version - 1}`) };
}

function versionFields({ values }: Given): object {
  const ifVersion = optionalNumber('--if-version', values['if-version']);
  return { note: values['note'], ...(ifVersion === undefined ? {} : { ifVersion }) };
}

function settingsOf({ values: { description, mode } }: Given): object {
  return { ...(description === undefined ? {} : { description }), ...(mode === undefined ? {} : { mode }) };
}
