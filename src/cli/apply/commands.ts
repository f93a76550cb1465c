/** `gatehouse plan`, `apply` and `export`: an account as one file. See docs/configuration-file.md. */
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { argumentsOf, CommandError } from '../command-line.ts';
import type { Arguments, CommandLine, CommandResult } from '../command-line.ts';
import { targetOf } from '../management-call.ts';
import { exportConfig, sectionNames, yamlText } from './export-config.ts';
import type { SectionName } from './export-config.ts';
import { makePlan } from './make-plan.ts';
import { changesOf, planId } from './plan.ts';
import type { Plan } from './plan.ts';
import { planJson, planLines } from './print-plan.ts';
import { readConfigFile } from './read-config.ts';
import { runPlan } from './run-plan.ts';
import { ServiceState } from './service-state.ts';

/** Something differs: what `plan` exits with, like diff. */
const DIFFERS = 2;

const fileFlags = { service: 'URL' } as const;
const fileSwitches = ['no-prune', 'allow-empty', 'send-secrets', 'json'] as const;

export const applyCommands = {
  plan: {
    about:
      'Shows what would have to change so that the service runs what the file says, and changes nothing. Exits with 0 where nothing differs, 2 where something does, 1 on an error.',
    positionals: ['FILE'],
    optional: fileFlags,
    switches: fileSwitches,
  },
  apply: {
    about:
      'Shows the plan, asks, and makes the changes. --yes does not ask. --expect PLAN changes nothing if the plan is another one by now.',
    positionals: ['FILE'],
    optional: { expect: 'PLAN', ...fileFlags },
    switches: ['yes', ...fileSwitches],
  },
  export: {
    about:
      'Writes what runs as a file for plan and apply, without secrets. --only has sections with commas between them.',
    optional: { out: 'FILE', only: 'SECTIONS', ...fileFlags },
    switches: ['json'],
  },
} satisfies Record<string, CommandLine>;

type Name = keyof typeof applyCommands;

/** `args`: the words of the command line, from the name on. `stateDir`: of the local stack. */
export async function run(args: readonly string[], stateDir = '.gatehouse'): Promise<CommandResult> {
  try {
    const name = args[0] as Name;
    const given = argumentsOf(name, applyCommands[name], args.slice(1));
    const state = new ServiceState(targetOf(given.values['service'], undefined, stateDir));
    if (name === 'export') return await exported(state, given);
    return await (name === 'plan' ? planned(state, given) : applied(state, given));
  } catch (error) {
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

async function planOf(state: ServiceState, { positionals: [path = ''], switches }: Arguments): Promise<Plan> {
  const config = await readConfigFile(path);
  const options = {
    prune: !switches.has('no-prune'),
    allowEmpty: switches.has('allow-empty'),
    sendSecrets: switches.has('send-secrets'),
  };
  return makePlan(config, state, options, process.env, Date.now());
}

async function planned(state: ServiceState, given: Arguments): Promise<CommandResult> {
  const plan = await planOf(state, given);
  return { exitCode: changesOf(plan).length === 0 ? 0 : DIFFERS, output: printed(plan, given) };
}

function printed(plan: Plan, { switches }: Arguments): string {
  return switches.has('json') ? JSON.stringify(planJson(plan), null, 2) : planLines(plan).join('\n');
}

async function applied(state: ServiceState, given: Arguments): Promise<CommandResult> {
  const isTerminal = process.stdin.isTTY && process.stderr.isTTY && given.positionals[0] !== '-';
  if (!given.switches.has('yes') && !isTerminal)
    throw new CommandError('apply asks before it changes anything, and nobody can answer here. Add --yes.');
  const plan = await planOf(state, given);
  if (changesOf(plan).length === 0) return { exitCode: 0, output: printed(plan, given) };
  const expected = given.values['expect'];
  if (expected !== undefined && expected !== planId(plan))
    throw new CommandError(
      `The plan is ${planId(plan)} by now and not ${expected}: the file or the service was changed. Nothing was changed. Read the new plan, then apply that one.`,
    );
  process.stderr.write(`${planLines(plan).join('\n')}\n`);
  if (!given.switches.has('yes') && !(await isConfirmed())) throw new CommandError('Nothing was changed.');
  await runPlan(plan, state, say);
  const done = changesOf(plan).length.toLocaleString('en');
  const output = given.switches.has('json') ? JSON.stringify({ ...planJson(plan), applied: true }, null, 2) : '';
  return { exitCode: 0, output: output || `Done: ${done} changes, ${plan.steps.length} steps.` };
}

async function isConfirmed(): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question('Make these changes? Type yes: ')).trim() === 'yes';
  } finally {
    lines.close();
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function exported(state: ServiceState, { values, switches }: Arguments): Promise<CommandResult> {
  const file = await exportConfig(state, sectionsOf(values['only']), say);
  const schemaUrl = `${state.target.serviceUrl}/gatehouse.schema.json`;
  const text = switches.has('json') ? JSON.stringify(file, null, 2) : yamlText(file, schemaUrl).trimEnd();
  const { out } = values;
  if (out === undefined) return { exitCode: 0, output: text };
  await writeFile(out, `${text}\n`);
  return { exitCode: 0, output: `The configuration is in ${out}.` };
}

function sectionsOf(only: string | undefined): Set<SectionName> {
  const words = only?.split(',').map((word) => word.trim()) ?? sectionNames;
  const unknown = words.find((word) => !(sectionNames as readonly string[]).includes(word));
  if (unknown !== undefined)
    throw new CommandError(`There is no section ${unknown}. Use some of these: ${sectionNames.join(', ')}`);
  return new Set(words as SectionName[]);
}
