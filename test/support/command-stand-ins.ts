/**
 * Stand-ins for the programs that documented commands call, so that a test can run each command as it is printed:
 * `curl` calls the test's own stack, `npm run gatehouse` works on its database, `npx wrangler` checks that wrangler has
 * the command and its flags, and keeps the secrets of the last deployment in `deployed-secrets`, and `docker compose`
 * checks the compose file that it is given. Each is a script of a few lines, which sends its words to the test's
 * process: a hundred Node processes would take a minute.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { runDeployment as deployMain } from '../../src/cli/deploy/main.ts';
import { terminal } from '../../src/cli/deploy/world.ts';
import { gatehouse as runGatehouse } from './gatehouse.ts';

/** What the commands of a page work on. */
export interface PageFacts {
  stateDir: string;
  /** By the origin that the documentation prints. */
  origins: Record<string, string>;
  /**
   * By the word that a reader replaces. What earlier commands have created is added: `ACCOUNT`, `SITE_KEY`, `INSTANCE`
   * and `API_KEY`.
   */
  values: Record<string, string>;
}

interface Page extends PageFacts {
  cwd: string;
  /** Names of lists that other machines publish. */
  publishedLists: Set<string>;
}

/** Returns what the program prints. */
type StandIn = (words: string[], page: Page) => string | Promise<string>;

const standIns: Record<string, StandIn> = { curl, npm, npx, openssl, docker };

/** Sends the working directory and the words; the first line that returns is the exit code. */
const scriptOf = (program: string, port: number): string => `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${port}
printf '%s\\0' $(($# + 2)) "$PWD" ${program} "$@" >&3
read -r status <&3
if [ "$status" = 0 ]; then cat <&3; else cat <&3 >&2; fi
exit "$status"
`;

export interface StandIns {
  /** Where their scripts are. */
  path: string;
  /** Before the commands of a page run in this folder. */
  addPage(cwd: string, facts: PageFacts): void;
  stop(): Promise<void>;
}

export async function startStandIns(path: string): Promise<StandIns> {
  const pages = new Map<string, Page>();
  const server = createServer((socket) => {
    void answer(socket, pages);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  mkdirSync(path);
  for (const program of Object.keys(standIns)) {
    writeFileSync(join(path, program), scriptOf(program, (server.address() as AddressInfo).port));
    chmodSync(join(path, program), 0o755);
  }
  return {
    path,
    addPage: (cwd, facts) => void pages.set(cwd, { ...facts, cwd, publishedLists: new Set() }),
    stop: async () => void (await once(server.close(), 'close')),
  };
}

async function answer(socket: Socket, pages: ReadonlyMap<string, Page>): Promise<void> {
  const [cwd = '', program = '', ...words] = await wordsFrom(socket);
  try {
    const page = pages.get(cwd);
    if (page === undefined) throw new Error(`${program}: no page's commands run in ${cwd}`);
    socket.end(`0\n${await standIns[program]!(filledIn(words, page), page)}`);
  } catch (error) {
    socket.end(`1\n${(error as Error).message}\n`);
  }
}

/** Each word ends with a zero byte. The first says how many follow. */
async function wordsFrom(socket: Socket): Promise<string[]> {
  let received = '';
  socket.setEncoding('utf8');
  for (;;) {
    const [count, ...words] = received.split('\0');
    if (words.length > Number(count)) return words.slice(0, -1);
    const [chunk] = (await once(socket, 'data')) as [string];
    received += chunk;
  }
}

function filledIn(words: readonly string[], { values }: Page): string[] {
  return words.map((text) =>
    Object.entries(values).reduce((filled, [word, value]) => filled.replaceAll(word, value), text),
  );
}

/** A response above 399 fails, except where the gate itself refuses a visitor, which some examples show. */
async function curl(words: string[], { origins }: Page): Promise<string> {
  const headers: Record<string, string> = { 'user-agent': 'curl/8.14.1', accept: '*/*' };
  let [url, body, printsHeaders] = ['', '', false];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (word === '-A') headers['user-agent'] = words[++at] ?? '';
    else if (word === '-H') {
      const [name = '', value = ''] = words[++at]?.split(/:\s*(.*)/s) ?? [];
      headers[name.toLowerCase()] = value;
    } else if (word === '-d') {
      body = [body, words[++at] ?? ''].filter(Boolean).join('&');
      headers['content-type'] ??= 'application/x-www-form-urlencoded';
    } else if (/^-[is]+$/.test(word)) printsHeaders ||= word.includes('i');
    else if (word.startsWith('-')) throw new Error(`curl: this stand-in has no ${word}`);
    else url = word;
  }
  const origin = Object.keys(origins).find((one) => url.startsWith(one));
  if (origin === undefined) throw new Error(`curl: no stack stands in for ${url}`);
  const target = origins[origin] + url.slice(origin.length);
  const method = body === '' ? 'GET' : 'POST';
  const { status, head, text } = await new Promise<{ status: number; head: string; text: string }>((done, failed) => {
    const call = request(target, { method, headers, agent: false }, (response) => {
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
  const isRefusal = status === 403 && head.includes('x-protect-decision');
  if (status >= 400 && !isRefusal) {
    throw new Error(`curl: ${method} ${url} returned ${status}: ${text.slice(0, 500)}`);
  }
  return `${printsHeaders ? `HTTP/1.1 ${status}\n${head}\n` : ''}${text}`;
}

async function npm(args: string[], page: Page): Promise<string> {
  const words = args.filter((word) => word !== '-s');
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };
  if (words[0] === 'ci' || (words[0] === 'pack' && words.includes('--workspaces'))) return '';
  const script = words[0] === 'run' ? words[1] : words[0];
  if (script === undefined || !Object.hasOwn(scripts, script)) throw new Error(`npm: no script ${script}`);
  const given = words.slice(words.indexOf('--') + 1);
  if (script === 'bench') await bench(given);
  if (script === 'deploy') await deploy(given);
  return script === 'gatehouse' ? gatehouse(given, page) : '';
}

/** A benchmark takes minutes, so only its name and flags are looked up in the list of benchmarks. */
async function bench([name, ...words]: string[]): Promise<void> {
  const { stderr } = await started(process.execPath, ['bench/main.ts']);
  const usage = stderr.split('\n').find((line) => line.startsWith(`  ${name} `));
  const missing = words.filter((word) => word.startsWith('--') && usage?.includes(word) !== true);
  if (usage === undefined || missing.length > 0) {
    throw new Error(`npm: no benchmark ${name} ${words.join(' ')}: ${stderr}`);
  }
}

/** Nothing is deployed from here: the command and its flags are looked up in the help. */
async function deploy(words: string[]): Promise<void> {
  let help = '';
  await deployMain(['--help'], { ...terminal, say: (line) => (help += `${line}\n`) });
  const usage = help.split('\n').find((line) => line.trim().startsWith(`npm run deploy -- ${words[0]} `));
  const missing = words.filter((word) => word.startsWith('--') && usage?.includes(word) !== true);
  if (usage === undefined || missing.length > 0) {
    throw new Error(`npm run deploy has no ${words.join(' ')}: ${help}`);
  }
}

async function gatehouse(words: string[], page: Page): Promise<string> {
  const command = words.slice(0, 2).join(' ');
  const local = words.filter((word) => word !== '--remote');
  const isRemote = words.includes('--remote') && !command.endsWith(' create');
  if (isRemote || isOfPublishedList(words, page)) {
    const help = await runGatehouse(['help']);
    const name = local.slice(0, local[1]?.startsWith('-') ? 1 : 2).join(' ');
    if (!help.output.includes(`\n  ${name} `)) throw new Error(`gatehouse has no command ${name}: ${help.output}`);
    return '';
  }
  const isPath = (word: string, at: number): boolean =>
    /^[\w-]+\.(csv|txt|json|yaml)$/.test(word) || (command === 'log copy' && at === 2);
  const paths = local.map((word, at) => (isPath(word, at) ? join(page.cwd, word) : word));
  const { exitCode, output, errors } = await runGatehouse(paths, { state: page.stateDir });
  if (exitCode !== 0) throw new Error(`gatehouse ${words.join(' ')}: ${errors}`);
  if (command.endsWith(' create')) {
    const made = JSON.parse(output) as Record<string, string>;
    const [what = ''] = words;
    const word = { account: 'ACCOUNT', site: 'SITE_KEY', instance: 'INSTANCE', key: 'API_KEY' }[what] ?? what;
    page.values[word] = made[{ site: 'siteKey', key: 'token' }[what] ?? 'id'] ?? '';
  }
  return output === '' ? '' : `${output}\n`;
}

/** No publisher can be reached from here, so only the command's name is checked. */
function isOfPublishedList(
  [command, what, name = '', ...others]: readonly string[],
  { publishedLists }: Page,
): boolean {
  if (command !== 'lists') return false;
  if (what === 'add' && others.includes('--url')) publishedLists.add(name);
  return publishedLists.has(name);
}

async function npx([tool, ...words]: string[], { cwd }: Page): Promise<string> {
  if (tool !== 'wrangler') throw new Error(`npx: nothing stands in for ${tool}`);
  const flags = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0]!);
  // A name that the reader chooses has capitals or hyphens.
  const end = words.findIndex((word) => !/^[a-z0-9]+$/.test(word));
  const command = words.slice(0, end < 0 ? undefined : end);
  const help = await wranglerHelp(command);
  const missing = flags.filter((flag) => !help.includes(flag));
  if (missing.length > 0) throw new Error(`wrangler ${command.join(' ')} has no ${missing.join(' ')}: ${help}`);
  const secrets = words[words.indexOf('--secrets-file') + 1];
  if (flags.includes('--secrets-file') && secrets !== undefined) {
    copyFileSync(join(cwd, secrets), join(cwd, 'deployed-secrets'));
  }
  return '';
}

const helps = new Map<string, string>();

/** Wrangler takes a second to start, so it is asked once for each command. */
async function wranglerHelp(command: readonly string[]): Promise<string> {
  const name = command.join(' ');
  const known = helps.get(name);
  if (known !== undefined) return known;
  const { status, stdout, stderr } = await started('node_modules/.bin/wrangler', [...command, '--help']);
  if (status !== 0) throw new Error(`wrangler ${name}: ${stderr}${stdout}`);
  helps.set(name, stdout);
  return stdout;
}

function openssl([what, form, bytes]: string[]): string {
  if (what !== 'rand' || (form !== '-base64' && form !== '-hex')) {
    throw new Error(`openssl: nothing stands in for ${what}`);
  }
  return `${randomBytes(Number(bytes)).toString(form === '-hex' ? 'hex' : 'base64')}\n`;
}

/** `docker compose -f FILE` with a command that it has, about a service of that file. */
async function docker(words: string[], page: Page): Promise<string> {
  const [compose, flag, file = '', command = '', service = '', called = '', ...others] = words;
  if (compose !== 'compose' || flag !== '-f') throw new Error(`docker: nothing stands in for ${words.join(' ')}`);
  const { services } = parse(readFileSync(file, 'utf8')) as { services: object };
  if (command === 'exec') {
    if (!Object.hasOwn(services, service)) throw new Error(`docker: ${file} has no service ${service}`);
    if (called !== 'npm') throw new Error(`docker: nothing stands in for ${called} in a container`);
    return npm(others, page);
  }
  if (!['up', 'down', 'logs'].includes(command)) throw new Error(`docker compose: no command ${command}`);
  return '';
}

interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

async function started(program: string, words: string[]): Promise<Ended> {
  try {
    return { status: 0, ...(await promisify(execFile)(program, words)) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, stdout, stderr };
  }
}
