/**
 * nginx with `geo` and HAProxy with a map, which look up the address in the header `X-Ip` and return its answer as the
 * body. Both run as one process with one thread, on the processor that is measured.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { MEASURED_CPU } from '../measure/load.ts';
import type { Network } from './networks.ts';

export interface ServerKind {
  label: string;
  /** How to get it, for a message. */
  installation: string;
  versionFlag: string;
  /** Writes its files into the folder and returns its arguments. */
  configure(folder: string, port: number, networks: Iterable<Network>): string[];
}

export interface RunningServer {
  port: number;
  pid: number;
  /** From the start of the process until it accepts a connection. */
  startMs: number;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 120_000;
const POLL_MS = 2;

export const servers = {
  nginx: {
    label: 'nginx geo',
    installation: 'apt-get install nginx-light',
    versionFlag: '-v',
    configure(folder, port, networks) {
      writeFileSync(
        join(folder, 'networks.conf'),
        linesOf(networks, (text, answer) => `${text} ${answer};`),
      );
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const config = join(folder, 'nginx.conf');
      writeFileSync(
        config,
        `daemon off;
master_process off;
pid ${join(folder, 'pid')};
error_log ${join(folder, 'error.log')};
events { worker_connections 64; }
http {
  access_log off;
  keepalive_requests 1000000000;
  ${paths.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n  ')}
  geo $http_x_ip $answer {
    default 0;
    include ${join(folder, 'networks.conf')};
  }
  server {
    listen 127.0.0.1:${port};
    default_type text/plain;
    location / { return 200 $answer; }
  }
}
`,
      );
      return ['-p', folder, '-e', join(folder, 'error.log'), '-c', config];
    },
  },
  haproxy: {
    label: 'HAProxy map_ip',
    installation: 'apt-get install haproxy',
    versionFlag: '-v',
    configure(folder, port, networks) {
      const map = join(folder, 'networks.map');
      writeFileSync(
        map,
        linesOf(networks, (text, answer) => `${text} ${answer}`),
      );
      const config = join(folder, 'haproxy.cfg');
      writeFileSync(
        config,
        `global
  nbthread 1
  maxconn 64
defaults
  mode http
  timeout client 60s
  timeout connect 5s
  timeout server 60s
frontend main
  bind 127.0.0.1:${port}
  http-request return status 200 content-type text/plain lf-string "%[req.hdr(x-ip),map_ip(${map},0)]"
`,
      );
      return ['-db', '-f', config];
    },
  },
} satisfies Record<string, ServerKind>;

export type ServerName = keyof typeof servers;

function linesOf(networks: Iterable<Network>, line: (text: string, answer: number) => string): string {
  return Array.from(networks, ({ text, answer }) => `${line(text, answer)}\n`).join('');
}

/** Its version; `null` when the machine does not have it. */
export function versionOf(name: ServerName): string | null {
  const { stdout, stderr, error } = spawnSync(name, [servers[name].versionFlag], {
    encoding: 'utf8',
    env: environment(),
  });
  return error ? null : (/\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] ?? 'unknown');
}

/** The search path of a user often leaves out the folder that has servers. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };
}

export async function startServer(
  name: ServerName,
  folder: string,
  networks: readonly Network[],
): Promise<RunningServer> {
  const port = await freePort();
  const command = ['-c', String(MEASURED_CPU), name, ...servers[name].configure(folder, port, networks)];
  const startedAt = performance.now();
  // taskset replaces itself, so the process id is the server's.
  const child = spawn('taskset', command, { stdio: 'ignore', env: environment() });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  try {
    await accepting(child, port, name, folder);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, pid: child.pid ?? 0, startMs: performance.now() - startedAt, stop };
}

async function accepting(child: ChildProcess, port: number, name: ServerName, folder: string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${logIn(folder)}`);
    if (await accepts(port)) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${name} did not start within ${START_TIMEOUT_MS / 1000} s`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function logIn(folder: string): string {
  try {
    return readFileSync(join(folder, 'error.log'), 'utf8').slice(-500);
  } catch {
    return 'no log';
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
