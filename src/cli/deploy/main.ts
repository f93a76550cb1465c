/** `npm run deploy -- …`: reads the command line. Errors are one sentence, because they say what the operator can do. */
import { GATEHOUSE_VERSION } from '../../contract/version.ts';
import { type Arguments, argumentsOf, type CommandLine, usageOf } from '../command-line.ts';
import { failure } from '../failure.ts';
import { deployInBuild } from './build.ts';
import { deploy } from './deploy.ts';
import { destroy } from './destroy.ts';
import { enforce } from './enforce.ts';
import { endOnSignals } from './interruption.ts';
import { DEFAULT_NAME } from './names.ts';
import { status } from './status.ts';
import { upgrade } from './upgrade.ts';
import { terminal, type World } from './world.ts';

interface Command extends CommandLine {
  /** `false` makes the exit code 1. */
  run(given: Arguments, world: World): Promise<unknown>;
}

const name = { name: 'NAME' } as const;
const keyFile = { 'master-key-file': 'PATH' } as const;
const nameOf = ({ values }: Arguments): string => values['name'] ?? DEFAULT_NAME;

const mode = (about: string, monitor: boolean, optional: Record<string, string>): Command => ({
  about,
  required: { site: 'HOST' },
  optional: { ...name, ...keyFile, ...optional },
  run: (given, world) => {
    const { site = '', rollout, 'master-key-file': masterKeyFile } = given.values;
    return enforce({ site, name: nameOf(given), monitor, masterKeyFile, rollout }, world);
  },
});

const commands: Readonly<Record<string, Command>> = {
  '': {
    about:
      'Deploys the service and the gate of one site, in monitor mode. Run it again after a failure, or for another site.',
    required: { site: 'HOST' },
    optional: { ...name, 'service-host': 'HOST', email: 'ADDRESS', ...keyFile },
    switches: ['dry-run'],
    run: (given, world) => {
      const { site = '', email, 'service-host': serviceHost, 'master-key-file': masterKeyFile } = given.values;
      const dryRun = given.switches.has('dry-run');
      return deploy({ site, name: nameOf(given), dryRun, masterKeyFile, email, serviceHost }, world);
    },
  },
  status: {
    about: 'Says what of the deployment is there. The exit code is 1 if something is missing.',
    optional: name,
    run: (given, world) => status(nameOf(given), world),
  },
  upgrade: {
    about: 'Deploys this checkout: tables, service, then the gates of all sites.',
    optional: { ...name, ...keyFile },
    run: (given, world) => upgrade(nameOf(given), given.values['master-key-file'], world),
  },
  enforce: mode('Challenges and blocks visitors of a site, or of a part of them.', false, { rollout: 'PERCENT' }),
  monitor: mode('Records again, and enforces nothing.', true, {}),
  destroy: {
    about: 'Deletes the deployment with all its data, or the gate of one site, after asking twice.',
    optional: { ...name, site: 'HOST', yes: 'NAME' },
    run: (given, world) => {
      const { site, yes } = given.values;
      return destroy({ name: nameOf(given), site, yes }, world);
    },
  },
};

/** Of one command, or of all. */
function help(only: string | undefined): string {
  const shown = Object.entries(commands).filter(([command]) => only === undefined || command === only);
  const lines = shown.map(
    ([command, line]) => `  npm run deploy -- ${usageOf(command, line).trim()}\n      ${line.about}`,
  );
  return `Usage:\n\n${lines.join('\n')}\n\nThe login is wrangler's: "npx wrangler login", or CLOUDFLARE_API_TOKEN. CLOUDFLARE_ACCOUNT_ID chooses one of several\naccounts. MASTER_KEY in the environment replaces the file with the master key.\nGATEHOUSE_DEPLOYMENT names the deployment for "npm run gatehouse -- ... --remote", as --name does here.`;
}

/** Returns the exit code. */
export async function runDeployment(argv: readonly string[], world: World): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    world.say(help(argv[0] !== undefined && Object.hasOwn(commands, argv[0]) ? argv[0] : undefined));
    return 0;
  }
  if (argv.includes('--version')) {
    world.say(GATEHOUSE_VERSION);
    return 0;
  }
  const command = argv[0] !== undefined && Object.hasOwn(commands, argv[0]) ? argv[0] : '';
  try {
    // The platform's builds run the script without arguments.
    if (argv.length === 0 && process.env['WORKERS_CI'] === '1') {
      await deployInBuild(world);
      return 0;
    }
    const line = commands[command]!;
    const given = argumentsOf(`npm run deploy -- ${command}`.trim(), line, command === '' ? argv : argv.slice(1));
    return (await line.run(given, world)) === false ? 1 : 0;
  } catch (error) {
    world.complain(failure(error, process.env));
    return 1;
  }
}

if (import.meta.main) {
  endOnSignals();
  process.exitCode = await runDeployment(process.argv.slice(2), terminal);
}
