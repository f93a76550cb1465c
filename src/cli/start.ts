/** `npm start`: the local stack in the foreground, until SIGTERM or Ctrl-C. */
import { stop as stopEsbuild } from 'esbuild';
import { buildClient, writeBundle } from '../../scripts/build-client.ts';
import { buildConsole, writeConsole } from '../../scripts/build-console.ts';
import { argumentsOf, CommandError, type CommandLine, usageOf } from './command-line.ts';
import { failure } from './failure.ts';
import { stateFlag } from './print/printed-command.ts';
import { type Stack, type StackOptions, startStack } from './stack.ts';

const PORT_MAX = 65_533;
const PARENT_POLL_MS = 200;

const NAME = 'npm start --';
const line: CommandLine = {
  about: 'Runs the local stack: the gate, the service and a demo site, until Ctrl-C.',
  optional: { 'port-base': 'PORT', origin: 'URL', state: 'DIR', host: 'ADDRESS' },
  switches: ['fresh', 'quiet'],
};
const HELP = `Usage: ${usageOf(NAME, line)}

${line.about}

  --port-base PORT  the gate's port; the service uses the next one, the demo site the one after (8800)
  --origin URL      a site of yours in place of the demo site
  --state DIR       where databases and keys are kept (.gatehouse)
  --host ADDRESS    0.0.0.0 lets other machines reach gate and service, unencrypted (127.0.0.1)
  --fresh           deletes what an earlier stack left in that directory
  --quiet           prints errors only`;

/** `null` when the command asks for the usage. */
function options(argv: string[]): StackOptions | null {
  if (argv.some((word) => word === '--help' || word === '-h')) return null;
  const { values, switches } = argumentsOf(NAME, line, argv);
  const portBase = Number(values['port-base'] ?? 8800);
  if (!Number.isInteger(portBase) || portBase < 1 || portBase > PORT_MAX) {
    throw new CommandError(`--port-base must be a port from 1 to ${PORT_MAX}.`);
  }
  const { origin, state, host = '127.0.0.1' } = values;
  if (host !== '127.0.0.1' && host !== '0.0.0.0') {
    throw new CommandError('--host must be 127.0.0.1 (this machine alone) or 0.0.0.0 (every machine that reaches it).');
  }
  if (origin !== undefined && !(URL.canParse(origin) && /^https?:\/\/[^/]/i.test(origin))) {
    throw new CommandError('--origin must be a URL such as https://site.example.');
  }
  return {
    portBase,
    host,
    fresh: switches.has('fresh'),
    quiet: switches.has('quiet'),
    ...(origin === undefined ? {} : { origin }),
    ...(state === undefined ? {} : { stateDir: state }),
  };
}

/** The shop has a page that sends requests as bots. A site of the operator's own has not. */
function sites({ edgeUrl, originUrl }: Stack): string {
  const gate = `  The site, through the gate        ${edgeUrl}/`;
  const origin = `  The site, without the gate        ${originUrl}`;
  const isDemo =
    new URL(originUrl).hostname === '127.0.0.1' &&
    new URL(originUrl).port === String(Number(new URL(edgeUrl).port) + 2);
  return [gate, ...(isDemo ? [`  What bots get from it             ${edgeUrl}/bots`] : []), origin].join('\n');
}

function welcome(stack: Stack): string {
  const rule = (path: string, body: string) =>
    `curl -s ${stack.serviceUrl}/protect/access-rules${path} -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '${body}'`;
  return `
Gatehouse is running.

Open the console: ${stack.signInUrl}

  The link signs you in once, within 15 minutes. Another one:
  npm run gatehouse -- signin --email ${stack.ownerEmail}${stateFlag(stack.stateDir)}

${sites(stack)}
  The documentation and the API     ${stack.serviceUrl}/docs/

The demo's instance enforces. An instance that you create starts in monitor mode: it records and enforces nothing.

Try it:  KEY=$(node -p "JSON.parse(require('fs').readFileSync('${stack.stateDir}/stack.json')).apiKey")

  ${rule('/create', '{"rules":[{"type":"userAgent","value":"badbot","verdict":"block"}]}')}
  curl -i -A badbot ${stack.edgeUrl}/
  curl -s ${stack.serviceUrl}/protect/verdicts -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"limit":1}'

Press Ctrl-C to stop it.
`;
}

/** What `--host` opens is said even with `--quiet`. */
function warning({ edgeUrl, serviceUrl }: Stack): string {
  const [edge, service] = [edgeUrl, serviceUrl].map((url) => new URL(url).port);
  return `Warning: other machines can reach the ports ${edge} and ${service} of this one, over unencrypted HTTP. Use it to try Gatehouse out, in a network that you trust, and never for a real site.\n`;
}

async function main(): Promise<void> {
  const wanted = options(process.argv.slice(2));
  if (wanted === null) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  // Both Workers carry the generated browser code, which a fresh clone does not have yet.
  writeBundle(await buildClient());
  writeConsole(await buildConsole());
  const stack = await startStack(wanted);
  // Everything is bundled. Its process would stay, with its memory.
  await stopEsbuild();
  let ending = false;
  const end = () => {
    if (ending) return;
    ending = true;
    void stack.stop().then(() => process.exit(0));
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    // The simulator's own hook exits at once, before the state directory is released.
    process.removeAllListeners(signal);
    process.on(signal, end);
  }
  endWithNpm(end);
  if (wanted.host === '0.0.0.0') process.stderr.write(warning(stack));
  if (!wanted.quiet) process.stdout.write(welcome(stack));
}

/**
 * Stops the stack when npm stops. A signal to npm reaches the shell that npm started, and some shells do not forward it.
 * Then the shell ends, and this process gets another parent.
 */
function endWithNpm(end: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) end();
  }, PARENT_POLL_MS).unref();
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${failure(error, process.env)}\n`);
  process.exit(1);
}
