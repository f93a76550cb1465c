/**
 * `npm run gatehouse -- COMMAND`: runs a command in the stack that owns the state directory, or on its files when no
 * stack runs. With `--remote` it works on the deployed database, with wrangler's login.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { alertCommands, run as runAlerts } from './alerts.ts';
import { attackCommands, run as runAttack } from './attack.ts';
import { limitCommands, run as runLimits } from './limits.ts';
import { listCommands, run as runLists } from './lists.ts';
import { botPolicyCommands, isBotPolicyCommand, run as runBotPolicy } from './bot-policy.ts';
import { botTrafficCommands, run as runBotTraffic } from './bot-traffic.ts';
import { usageOf } from './command-line.ts';
import type { CommandLine, CommandResult } from './command-line.ts';
import { checkCommand, databaseCommands } from './commands.ts';
import { runInStack } from './control.ts';
import { costCommands, run as runCost } from './cost/cost.ts';
import { OperatorError } from './operator-error.ts';
import { policyCommands } from './policies/commands.ts';
import { run as runPolicies } from './policies/policies.ts';
import { ruleCommands, run as runRules } from './rules.ts';
import { logCommands, run as runLog } from './log-rebuild.ts';
import { run as runWhy, whyCommands } from './why.ts';
import { StateDir } from './state.ts';

interface Target {
  state: string;
  remote: boolean;
}

/** Separates the two flags that every command has from the command's own words. */
function splitTarget(argv: readonly string[]): { target: Target; args: string[] } {
  const target: Target = { state: '.gatehouse', remote: false };
  const args: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--remote') target.remote = true;
    else if (word === '--state') target.state = argv[(at += 1)] ?? '';
    else if (word.startsWith('--state=')) target.state = word.slice('--state='.length);
    else args.push(word);
  }
  if (target.state === '' || target.state.startsWith('--'))
    throw new OperatorError('--state is missing its directory. Add it after the flag.');
  return { target, args };
}

function version(): string {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
}

const TARGET_HELP = `  --state DIR  the local stack (.gatehouse)
  --remote     the deployed database, with wrangler's login and the secret MASTER_KEY in the environment`;
const SERVICE_HELP = `  --state DIR    the local stack (.gatehouse)
  --service URL  a deployed service, with an API key in the variable GATEHOUSE_API_KEY`;

const byDatabase = Object.entries(databaseCommands);
const byService = Object.entries({
  ...ruleCommands,
  ...policyCommands,
  ...limitCommands,
  ...whyCommands,
  ...botPolicyCommands,
  ...botTrafficCommands,
  ...logCommands,
  ...alertCommands,
  ...attackCommands,
  ...listCommands,
});
const byArithmetic = Object.entries<CommandLine>(costCommands);

/** The usage of the command that the words name, of every command that begins with them, or of all. */
function help(words: readonly string[]): string {
  const named = words.filter((word) => !word.startsWith('-') && word !== 'help').join(' ');
  const isNamed = ([name]: [string, CommandLine]) => `${named} `.startsWith(`${name} `);
  const one = [...byDatabase, ...byService, ...byArithmetic].find(isNamed);
  if (one !== undefined) {
    const [name, line] = one;
    const usage = `Usage: npm run gatehouse -- ${usageOf(name, line)}\n\n${line.about}`;
    if (byArithmetic.some(isNamed)) return usage;
    return `${usage}\n\n${byDatabase.some(isNamed) ? TARGET_HELP : SERVICE_HELP}`;
  }
  const near = (commands: [string, CommandLine][]) => commands.filter(([name]) => name.startsWith(`${words[0]} `));
  const isNear = [...byDatabase, ...byService].some(([name]) => name.startsWith(`${words[0]} `));
  const section = (title: string, commands: [string, CommandLine][], flags: string) => {
    const lines = (isNear ? near(commands) : commands).map(([name, line]) => `  ${usageOf(name, line)}`);
    const text = [`${title}:\n${lines.join('\n')}`, flags].filter(Boolean).join('\n\n');
    return lines.length === 0 ? '' : `${text}\n\n`;
  };
  return `Usage: npm run gatehouse -- COMMAND

${section('Commands on the database', byDatabase, TARGET_HELP)}${section('Commands over the management API', byService, SERVICE_HELP)}${section('Commands that only compute', byArithmetic, '')}COMMAND --help explains a command. --version prints the version.`;
}

/** What runs a command over the management API. `null`: the command is one on the database. */
function serviceRunner(args: readonly string[]): typeof runWhy | null {
  const [noun, verb] = args;
  if (noun === 'rules') return runRules;
  if (noun === 'policies') return runPolicies;
  if (noun === 'limits') return runLimits;
  if (noun === 'why') return runWhy;
  if (noun === 'alerts') return runAlerts;
  if (noun === 'attack') return runAttack;
  if (noun === 'lists') return runLists;
  if (noun === 'log' && verb === 'rebuild') return runLog;
  if (isBotPolicyCommand(args)) return runBotPolicy;
  return noun === 'bots' && verb === 'traffic' ? runBotTraffic : null;
}

async function run(argv: readonly string[]): Promise<CommandResult> {
  const { target, args } = splitTarget(argv);
  if (args.length === 0 || args[0] === 'help' || args.some((arg) => arg === '--help' || arg === '-h'))
    return { exitCode: 0, output: help(args) };
  if (args[0] === '--version') return { exitCode: 0, output: version() };
  if (args[0] === 'cost') return runCost(args);
  const onService = serviceRunner(args);
  if (onService !== null) {
    if (target.remote)
      throw new OperatorError(
        `${args.slice(0, args[0] === 'bots' ? 2 : 1).join(' ')} has no --remote. Name the deployed service with --service URL.`,
      );
    return onService(args, target.state);
  }
  checkCommand(args);
  // The stack that runs the command has a working directory of its own.
  if (args[0] === 'log') args[2] = resolve(args[2] ?? '');
  // Simulator and wrangler take a second to load.
  if (target.remote) return (await import('./remote.ts')).runRemote(args);
  const state = new StateDir(target.state);
  if (!state.exists())
    throw new OperatorError(`There is no local stack in ${state.path}. Start one with npm start, or correct --state.`);
  const running = await state.claimOrReach('command');
  if (running) return runInStack(running, args);
  try {
    return await (await import('./stopped-stack.ts')).runOnFiles(state, args);
  } finally {
    state.release();
  }
}

const result = await run(process.argv.slice(2)).catch((error: unknown): CommandResult => {
  if (error instanceof OperatorError) return { exitCode: 1, output: error.message };
  throw error;
});
const output = result.exitCode === 0 ? process.stdout : process.stderr;
// Wrangler may still wait for an answer, which would keep the process alive.
output.write(`${result.output}\n`, () => process.exit(result.exitCode));
