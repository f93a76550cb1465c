/** `gatehouse plan`, `apply` and `export`: an account as one file. See docs/configuration-file.md. */
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { CommandError } from '../command-line.ts';
import { serviceCommand, type Commands, type Given } from '../command.ts';
import { listOf } from '../flag-values.ts';
import { jsonText, printable } from '../print/printable.ts';
import { exportConfig, sectionNames, type SectionName, yamlText } from './export-config.ts';
import { planAccessControl, planBots, planChannels, planUsers } from './kinds/account.ts';
import { planInstances } from './kinds/instances.ts';
import { planSites } from './kinds/sites.ts';
import { Made, type ConfigPlan, PlanBuilder, type Planning } from './plan.ts';
import { changesOf, planId, planJson, planLines, type PrintedPlan } from './print-plan.ts';
import { readConfigFile } from './read-config.ts';
import { RejectedFileError } from './report.ts';
import { runPlan } from './run-plan.ts';
import { ServiceState } from './service-state.ts';

/** Something differs: what `plan` exits with, like diff. */
const DIFFERS = 2;

const choices = ['no-prune', 'send-secrets'] as const;

export const applyCommands: Commands = {
  plan: serviceCommand({
    about:
      'Shows what would have to change so that the service runs what the file says, and changes nothing. Exits with 0 where nothing differs, 2 where something does, 1 on an error.',
    example: 'plan gatehouse.yaml',
    positionals: ['FILE'],
    switches: choices,
    run: async (given) => planJson(await planOf(new ServiceState(given.target()), given)),
    print: ({ lines }) => lines(),
    exitCode: ({ changed }) => (changed ? DIFFERS : 0),
  }),
  apply: serviceCommand({
    about:
      'Shows the plan, asks, and makes the changes. --yes does not ask. --expect PLAN changes nothing if the plan is another one by now.',
    example: 'apply gatehouse.yaml --yes',
    positionals: ['FILE'],
    optional: { expect: 'PLAN' },
    switches: ['yes', 'allow-empty', ...choices],
    endsItself: true,
    run: applied,
    print: ({ changed, changes, lines }) =>
      changed ? [`Done: ${changes.length.toLocaleString('en')} changes.`] : lines(),
  }),
  export: serviceCommand({
    about:
      'Writes what runs as a file for plan and apply, without secrets. --only has sections with commas between them.',
    example: 'export --out gatehouse.yaml',
    optional: { out: 'FILE', only: 'SECTIONS' },
    isDocument: true,
    run: exported,
  }),
};

/**
 * Compares a file with what runs. Only the kinds that the file names are read.
 * @throws RejectedFileError for what does not fit what runs; CallError
 */
async function planOf(state: ServiceState, { positionals: [path = ''], switches, env }: Given): Promise<ConfigPlan> {
  const { wanted, report } = await readConfigFile(path);
  const options = { prune: !switches.has('no-prune'), sendSecrets: switches.has('send-secrets') };
  const [plan, made] = [new PlanBuilder(), new Made()];
  const planning: Planning = { state, report, options, environment: env, nowMs: Date.now(), plan, made };
  if (wanted.sites !== undefined) await planSites(planning, wanted.sites, wanted.instances);
  if (wanted.bots !== undefined) await planBots(planning, wanted.bots);
  if (wanted.accessControl !== undefined) await planAccessControl(planning, wanted.accessControl);
  if (wanted.instances !== undefined) await planInstances(planning, wanted);
  if (wanted.users !== undefined) await planUsers(planning, wanted.users);
  if (wanted.alertChannels !== undefined) await planChannels(planning, wanted.alertChannels);
  report.check();
  return plan.finish(made);
}

async function applied(given: Given): Promise<PrintedPlan> {
  const { values, switches, positionals, note } = given;
  const canAsk = process.stdin.isTTY && process.stderr.isTTY && positionals[0] !== '-';
  if (!switches.has('yes') && !canAsk)
    throw new CommandError('apply asks before it changes anything, and nobody can answer here. Add --yes.');
  const state = new ServiceState(given.target());
  const plan = await planOf(state, given);
  const { expect: expected } = values;
  if (expected !== undefined && expected !== planId(plan))
    throw new CommandError(
      `The plan is ${planId(plan)} by now and not ${expected}: the file or the service was changed. Nothing was changed. Read the new plan, then apply that one.`,
    );
  if (changesOf(plan).length === 0) return planJson(plan);
  if (plan.emptied.length > 0 && !switches.has('allow-empty'))
    throw new RejectedFileError(positionals[0] ?? '', plan.emptied);
  for (const line of planLines(plan)) note(line);
  if (!switches.has('yes') && !(await isConfirmed(state.target.serviceUrl, given.signal)))
    throw new CommandError('Nothing was changed.');
  await runPlan(plan, state, given);
  return planJson(plan);
}

async function isConfirmed(serviceUrl: string, signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (
      (await lines.question(`Make these changes on ${printable(serviceUrl)}? Type yes: `, { signal })).trim() === 'yes'
    );
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    lines.close();
  }
}

async function exported(given: Given): Promise<undefined> {
  const { values, json, note, write } = given;
  const state = new ServiceState(given.target());
  const sections = sectionsOf(values['only']);
  const file = await exportConfig(state, sections, given);
  const schemaUrl = `${state.target.serviceUrl}/gatehouse.schema.json`;
  const text = json ? `${jsonText(file)}\n` : yamlText(file, schemaUrl);
  const { out } = values;
  if (out === undefined) {
    await write(text);
    return;
  }
  await writeFile(out, text);
  note(`The configuration is in ${out}.`);
}

function sectionsOf(only: string | undefined): Set<SectionName> {
  const words = listOf(only) ?? sectionNames;
  const unknown = words.find((word) => !(sectionNames as readonly string[]).includes(word));
  if (unknown !== undefined || words.length === 0)
    throw new CommandError(`There is no section "${unknown ?? ''}". Use some of these: ${sectionNames.join(', ')}`);
  return new Set(words as SectionName[]);
}
