/**
 * Stand-ins for the programs that documented commands call, so that a test can run each command as it is printed:
 * `curl` calls the test's own stack, `npm run gatehouse` works on its database, `npx wrangler` checks that wrangler has
 * the command and its flags, and keeps the secrets of the last deployment in `deployed-secrets`, and `docker compose`
 * checks the compose file that it is given. `facts.json` in the
 * working directory says where the stack is, and holds what earlier commands returned for the words that a reader
 * replaces (`ACCOUNT`, `SITE_KEY`, `INSTANCE`).
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { parse } from 'yaml';

interface Facts {
  repository: string;
  stateDir: string;
  /** Folder for wrangler's help texts, which all pages share. */
  wranglerHelp: string;
  /** By the origin that the documentation prints. */
  origins: Record<string, string>;
  /** By the word that a reader replaces. */
  values: Record<string, string>;
  /** Names of lists that other machines publish. */
  publishedLists: string[];
}

const facts = JSON.parse(readFileSync('facts.json', 'utf8')) as Facts;
const [program = '', ...args] = process.argv.slice(2).map(filledIn);

function filledIn(text: string): string {
  return Object.entries(facts.values).reduce((filled, [word, value]) => filled.replaceAll(word, value), text);
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** A response above 399 fails, except where the gate itself refuses a visitor, which some examples show. */
async function curl(): Promise<void> {
  const headers: Record<string, string> = { 'user-agent': 'curl/8.14.1', accept: '*/*' };
  let [url, body, printsHeaders] = ['', '', false];
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!;
    if (word === '-A') headers['user-agent'] = args[++at] ?? '';
    else if (word === '-H') {
      const [name = '', value = ''] = args[++at]?.split(/:\s*(.*)/s) ?? [];
      headers[name.toLowerCase()] = value;
    } else if (word === '-d') {
      body = [body, args[++at] ?? ''].filter(Boolean).join('&');
      headers['content-type'] ??= 'application/x-www-form-urlencoded';
    } else if (/^-[is]+$/.test(word)) printsHeaders ||= word.includes('i');
    else if (word.startsWith('-')) fail(`curl: this stand-in has no ${word}`);
    else url = word;
  }
  const origin = Object.keys(facts.origins).find((one) => url.startsWith(one));
  if (origin === undefined) fail(`curl: no stack stands in for ${url}`);
  const target = facts.origins[origin] + url.slice(origin.length);
  const method = body === '' ? 'GET' : 'POST';
  const { status, head, text } = await new Promise<{ status: number; head: string; text: string }>((done, failed) => {
    const call = request(target, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const lines = Object.entries(response.headers).map(([name, value]) => `${name}: ${String(value)}\n`);
        done({ status: response.statusCode ?? 0, head: lines.join(''), text: Buffer.concat(chunks).toString() });
      });
    });
    call.on('error', failed);
    call.end(body);
  });
  process.stdout.write(`${printsHeaders ? `HTTP/1.1 ${status}\n${head}\n` : ''}${text}`);
  const isRefusal = status === 403 && head.includes('x-protect-decision');
  if (status >= 400 && !isRefusal) fail(`curl: ${method} ${url} returned ${status}: ${text.slice(0, 500)}`);
}

function npm(): void {
  const words = args.filter((word) => word !== '-s');
  const scripts = Object.keys(
    (JSON.parse(readFileSync(`${facts.repository}/package.json`, 'utf8')) as { scripts: object }).scripts,
  );
  if (words[0] === 'ci' || (words[0] === 'pack' && words.includes('--workspaces'))) return;
  const script = words[0] === 'run' ? words[1] : words[0];
  if (script === undefined || !scripts.includes(script)) fail(`npm: no script ${script}`);
  if (script === 'bench') bench(words.slice(words.indexOf('--') + 1));
  if (script === 'gatehouse') gatehouse(words.slice(words.indexOf('--') + 1));
  if (script === 'deploy') deploy(words.slice(words.indexOf('--') + 1));
}

/** A benchmark takes minutes, so only its name and flags are looked up in the list of benchmarks. */
function bench([name, ...words]: string[]): void {
  const { stderr } = spawnSync(process.execPath, ['bench/main.ts'], { cwd: facts.repository, encoding: 'utf8' });
  const usage = stderr.split('\n').find((line) => line.startsWith(`  ${name} `));
  const missing = words.filter((word) => word.startsWith('--') && usage?.includes(word) !== true);
  if (usage === undefined || missing.length > 0) fail(`npm: no benchmark ${name} ${words.join(' ')}: ${stderr}`);
}

/** Nothing is deployed from here: the command and its flags are looked up in the help. */
function deploy(words: string[]): void {
  const help = spawnSync(process.execPath, ['src/cli/deploy/main.ts', '--help'], {
    cwd: facts.repository,
    encoding: 'utf8',
  });
  const usage = help.stdout.split('\n').find((line) => line.trim().startsWith(`npm run deploy -- ${words[0]} `));
  const missing = words.filter((word) => word.startsWith('--') && usage?.includes(word) !== true);
  if (usage === undefined || missing.length > 0) fail(`npm run deploy has no ${words.join(' ')}: ${help.stdout}`);
}

function gatehouse(words: string[]): void {
  const cli = (...given: string[]) =>
    spawnSync(process.execPath, ['src/cli/gatehouse.ts', ...given], { cwd: facts.repository, encoding: 'utf8' });
  const command = words.slice(0, 2).join(' ');
  const local = words.filter((word) => word !== '--remote');
  const isRemote = words.includes('--remote') && !command.endsWith(' create');
  if (isRemote || isOfPublishedList(words)) {
    const { stdout } = cli('help');
    const name = local.slice(0, local[1]?.startsWith('-') ? 1 : 2).join(' ');
    if (!stdout.includes(`\n  ${name} `)) fail(`gatehouse has no command ${name}: ${stdout}`);
    return;
  }
  const isPath = (word: string, at: number): boolean =>
    /^[\w-]+\.(csv|txt|json|yaml)$/.test(word) || (command === 'log copy' && at === 2);
  const paths = local.map((word, at) => (isPath(word, at) ? `${process.cwd()}/${word}` : word));
  const { status, stdout, stderr } = cli(...paths, '--state', facts.stateDir);
  if (status !== 0) fail(`gatehouse ${words.join(' ')}: ${stderr}`);
  process.stdout.write(stdout);
  if (!command.endsWith(' create')) return;
  const made = JSON.parse(stdout) as Record<string, string>;
  const [what = ''] = words;
  const word = { account: 'ACCOUNT', site: 'SITE_KEY', instance: 'INSTANCE', key: 'API_KEY' }[what] ?? what;
  facts.values[word] = made[{ site: 'siteKey', key: 'token' }[what] ?? 'id'] ?? '';
  writeFileSync('facts.json', JSON.stringify(facts));
}

/** No publisher can be reached from here, so only the command's name is checked. */
function isOfPublishedList([command, what, name = '', ...others]: readonly string[]): boolean {
  if (command !== 'lists') return false;
  if (what === 'add' && others.includes('--url')) {
    facts.publishedLists.push(name);
    writeFileSync('facts.json', JSON.stringify(facts));
  }
  return facts.publishedLists.includes(name);
}

function npx(): void {
  if (args[0] !== 'wrangler') fail(`npx: nothing stands in for ${args[0]}`);
  const words = args.slice(1);
  const flags = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0]!);
  const end = words.findIndex((word) => word.startsWith('-') || /[/.]/.test(word));
  const command = words.slice(0, end < 0 ? undefined : end);
  const help = helpOf(command);
  const missing = flags.filter((flag) => !help.includes(flag));
  if (missing.length > 0) fail(`wrangler ${command.join(' ')} has no ${missing.join(' ')}: ${help}`);
  const secrets = words[words.indexOf('--secrets-file') + 1];
  if (flags.includes('--secrets-file') && secrets !== undefined) copyFileSync(secrets, 'deployed-secrets');
}

/** Wrangler takes seconds to start, so it is asked once for each command. */
function helpOf(command: readonly string[]): string {
  const kept = `${facts.wranglerHelp}/wrangler-${command.join('-')}.txt`;
  if (existsSync(kept)) return readFileSync(kept, 'utf8');
  const wrangler = `${facts.repository}/node_modules/.bin/wrangler`;
  const { stdout, stderr, status } = spawnSync(wrangler, [...command, '--help'], { encoding: 'utf8' });
  if (status !== 0) fail(`wrangler ${command.join(' ')}: ${stderr}${stdout}`);
  writeFileSync(kept, stdout);
  return stdout;
}

function openssl(): void {
  const [what, form, bytes] = args;
  if (what !== 'rand' || (form !== '-base64' && form !== '-hex')) fail(`openssl: nothing stands in for ${what}`);
  process.stdout.write(`${randomBytes(Number(bytes)).toString(form === '-hex' ? 'hex' : 'base64')}\n`);
}

/** `docker compose -f FILE` with a command that it has, about a service of that file. */
function docker(): void {
  const [compose, flag, file = '', command = '', ...words] = args;
  if (compose !== 'compose' || flag !== '-f') fail(`docker: nothing stands in for ${args.join(' ')}`);
  const { services } = parse(readFileSync(`${facts.repository}/${file}`, 'utf8')) as { services: object };
  if (command === 'exec') {
    const [service = '', called = '', ...others] = words;
    if (!(service in services)) fail(`docker: ${file} has no service ${service}`);
    if (called !== 'npm') fail(`docker: nothing stands in for ${called} in a container`);
    args.splice(0, args.length, ...others);
    npm();
  } else if (!['up', 'down', 'logs'].includes(command)) fail(`docker compose: no command ${command}`);
}

const programs: Record<string, () => void | Promise<void>> = { curl, npm, npx, openssl, docker };
await programs[program]!();
