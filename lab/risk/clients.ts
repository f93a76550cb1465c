/**
 * The clients that `risk-record.ts` drives: browsers that a driver drives, browsers that a hand works from outside, curl, and
 * scripts. Each set has its own variants.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { browserClients, chromeOf, MAC, WINDOWS } from './driven-browsers.ts';
import type { Look } from './hand.ts';
import type { RecordedKind } from './replay.ts';
import { windowClients } from './hand-browsers.ts';

export interface RecordedClient {
  kind: RecordedKind;
  variant: string;
  network: string;
  drive(url: string): Promise<void>;
}

export type RecordedSet = 'tune' | 'report';

const curl = promisify(execFile);
const BORROWED = ['-A', chromeOf(WINDOWS, 153), '-H', 'Accept-Language: en-US,en;q=0.9'];
const METADATA = ['-H', 'Sec-Fetch-Site: same-origin', '-H', 'Sec-Fetch-Mode: cors', '-H', 'Sec-Fetch-Dest: empty'];
const HINTS = '"Chromium";v="153", "Not_A Brand";v="24", "Google Chrome";v="153"';
const curlVariants: { sets: RecordedSet[]; variant: string; headers: string[]; times: number; renews: boolean }[] = [
  { sets: ['tune'], variant: 'as it is', headers: [], times: 1, renews: false },
  { sets: ['tune'], variant: 'browser’s name', headers: BORROWED, times: 1, renews: true },
  {
    sets: ['report'],
    variant: 'browser’s name, old version',
    headers: ['-A', chromeOf(MAC, 120)],
    times: 1,
    renews: true,
  },
  {
    sets: ['report'],
    variant: 'name and metadata, renewed',
    headers: [...BORROWED, ...METADATA],
    times: 1,
    renews: true,
  },
  {
    sets: ['report'],
    variant: 'throws its cookies away',
    headers: [...BORROWED, ...METADATA],
    times: 8,
    renews: false,
  },
];

const postHeaders = { 'content-type': 'application/json' };
const borrowedHeaders = {
  ...postHeaders,
  'user-agent': chromeOf(WINDOWS, 153),
  'accept-language': 'en-US,en;q=0.9',
  'sec-ch-ua': HINTS,
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Windows"',
};
const invented = {
  v: 1,
  elapsedMs: 5000,
  visibleMs: 5000,
  firstInteractionMs: 900,
  pointerMoves: 150,
  presses: 2,
  touches: 0,
  leaps: 0,
  keys: 0,
  wheels: 6,
  scrolls: 12,
  untrusted: 0,
  keyGaps: 0,
  keyGapMeanMs: 0,
  keyGapDeviationMs: 0,
  traits: [],
};
const scriptVariants: {
  sets: RecordedSet[];
  variant: string;
  headers: Record<string, string>;
  report: object | null;
}[] = [
  { sets: ['tune'], variant: 'fetch as it is', headers: postHeaders, report: null },
  { sets: ['tune'], variant: 'all headers, no report', headers: borrowedHeaders, report: null },
  {
    sets: ['report'],
    variant: 'all headers, report without sense',
    headers: { ...borrowedHeaders, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' },
    report: { ...invented, elapsedMs: 10, visibleMs: 10 },
  },
  {
    sets: ['report'],
    variant: 'all headers, plausible report',
    headers: { ...borrowedHeaders, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' },
    report: invented,
  },
  {
    sets: ['report'],
    variant: 'library’s own name',
    headers: { ...postHeaders, 'user-agent': 'python-requests/2.32.3' },
    report: null,
  },
];

/** When a session that lives on is renewed: before its JWT's five minutes are over. */
const RENEWED_AT_MS = 200_000;

async function driveCurl(url: string, headers: readonly string[], times: number, renews: boolean): Promise<void> {
  const post = (more: readonly string[]) =>
    curl('curl', [
      '-s',
      '-D',
      '-',
      '-o',
      '/dev/null',
      '-X',
      'POST',
      '-d',
      '{}',
      ...headers,
      ...more,
      `${url}/__protect/session`,
    ]);
  for (let time = 0; time < times; time++) {
    const { stdout } = await post(['-H', 'x-recorded-at-ms: 0']);
    const cookie = /set-cookie: ([^;]+)/i.exec(stdout)?.[1] ?? '';
    if (renews) await post(['-H', `Cookie: ${cookie}`, '-H', `x-recorded-at-ms: ${RENEWED_AT_MS}`]);
  }
}

async function driveScript(url: string, headers: Record<string, string>, report: object | null): Promise<void> {
  const at = (milliseconds: number) => ({ ...headers, 'x-recorded-at-ms': String(milliseconds) });
  const opened = await fetch(`${url}/__protect/session`, { method: 'POST', headers: at(0), body: '{}' });
  const cookie = opened.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  if (report !== null) {
    const body = JSON.stringify(report);
    await fetch(`${url}/__protect/telemetry`, { method: 'POST', headers: { ...at(5000), cookie }, body });
  }
  await fetch(`${url}/__protect/session`, { method: 'POST', headers: { ...at(RENEWED_AT_MS), cookie }, body: '{}' });
}

/** `look`: what the page told last of its places. */
export function clientsOf(set: RecordedSet, look: Look): RecordedClient[] {
  const inSet = <One extends { sets: RecordedSet[] }>(all: One[]): One[] =>
    all.filter(({ sets }) => sets.includes(set));
  const curls = inSet(curlVariants).map(({ variant, headers, times, renews }) => ({
    kind: 'curl' as const,
    variant,
    network: `curl ${variant}`,
    drive: (url: string) => driveCurl(url, headers, times, renews),
  }));
  const scripts = inSet(scriptVariants).map(({ variant, headers, report }) => ({
    kind: 'script' as const,
    variant,
    network: `script ${variant}`,
    drive: (url: string) => driveScript(url, headers, report),
  }));
  return [...curls, ...scripts, ...browserClients(set), ...windowClients(set, look)];
}
