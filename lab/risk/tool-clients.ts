/** Clients without a browser: curl and scripts, as they are and with a browser's headers. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { languageFeatures } from '../../src/contract/edge/page-report-names.ts';
import type { EnvironmentReport } from '../../src/contract/edge/page-reports.ts';
import { MAC, WINDOWS, chromeOf, type RecordedClient } from './client.ts';
import type { RecordedSet } from './recording.ts';

interface CurlVariant {
  set: RecordedSet;
  variant: string;
  headers: readonly string[];
  /** How many sessions it opens, one after another. */
  sessions?: number;
  renews?: boolean;
}
interface ScriptVariant {
  set: RecordedSet;
  variant: string;
  headers: Readonly<Record<string, string>>;
  /** What it makes up about its browser, and the report of a page that it makes up, if it sends them. */
  environment?: EnvironmentReport;
  report?: object;
}

const run = promisify(execFile);
const BORROWED = ['-A', chromeOf(WINDOWS, 153), '-H', 'Accept-Language: en-US,en;q=0.9'];
const METADATA = ['-H', 'Sec-Fetch-Site: same-origin', '-H', 'Sec-Fetch-Mode: cors', '-H', 'Sec-Fetch-Dest: empty'];
const curlVariants: readonly CurlVariant[] = [
  { set: 'tune', variant: 'unchanged', headers: [] },
  { set: 'tune', variant: 'browser’s user agent', headers: BORROWED, renews: true },
  { set: 'report', variant: 'browser’s user agent, old version', headers: ['-A', chromeOf(MAC, 120)], renews: true },
  {
    set: 'report',
    variant: 'user agent and fetch metadata, renewed',
    headers: [...BORROWED, ...METADATA],
    renews: true,
  },
  { set: 'report', variant: 'discards its cookies', headers: [...BORROWED, ...METADATA], sessions: 8 },
];

const postHeaders = { 'content-type': 'application/json' };
const borrowedHeaders = {
  ...postHeaders,
  'user-agent': chromeOf(WINDOWS, 153),
  'accept-language': 'en-US,en;q=0.9',
  'sec-ch-ua': '"Chromium";v="153", "Not_A Brand";v="24", "Google Chrome";v="153"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Windows"',
};
const browserHeaders = { ...borrowedHeaders, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' };
/** As Chrome on Windows reports it. */
const copied: EnvironmentReport = {
  v: 1,
  traits: [],
  engine: 'v8',
  marks: ['chrome-object', 'hints', 'chromium-css'],
  features: 2 ** languageFeatures.length - 1,
  userAgent: chromeOf(WINDOWS, 153),
  system: 'windows',
  hints: { brands: borrowedHeaders['sec-ch-ua'].replaceAll('; ', ';'), mobile: false, platform: 'Windows' },
  renderer: 'direct3d',
  signs: [],
};
const plausibleReport = {
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
const scriptVariants: readonly ScriptVariant[] = [
  { set: 'tune', variant: 'fetch, unchanged', headers: postHeaders },
  { set: 'tune', variant: 'all headers, no report', headers: borrowedHeaders },
  {
    set: 'tune',
    variant: 'all headers, made-up browser',
    headers: browserHeaders,
    environment: { ...copied, marks: [], features: 0 },
    report: plausibleReport,
  },
  {
    set: 'report',
    variant: 'all headers, another browser’s report',
    headers: browserHeaders,
    environment: { ...copied, engine: 'gecko', marks: ['gecko-css', 'gecko-screen'], hints: null },
    report: plausibleReport,
  },
  {
    set: 'report',
    variant: 'all headers, a browser’s report, copied',
    headers: browserHeaders,
    environment: copied,
    report: plausibleReport,
  },
  {
    set: 'report',
    variant: 'all headers, implausible report',
    headers: browserHeaders,
    report: { ...plausibleReport, elapsedMs: 10, visibleMs: 10 },
  },
  { set: 'report', variant: 'all headers, plausible report', headers: browserHeaders, report: plausibleReport },
  {
    set: 'report',
    variant: 'library’s own user agent',
    headers: { ...postHeaders, 'user-agent': 'python-requests/2.32.3' },
  },
];

/** When a session that stays open is renewed: before the five minutes of its JWT are over. */
const RENEWED_AT_MS = 200_000;

export function toolClients(wanted: RecordedSet): RecordedClient[] {
  const curls = curlVariants.map((one) => ({ ...one, kind: 'curl' as const, drive: driveCurl.bind(null, one) }));
  const scripts = scriptVariants.map((one) => ({
    ...one,
    kind: 'script' as const,
    drive: driveScript.bind(null, one),
  }));
  return [...curls, ...scripts]
    .filter(({ set }) => set === wanted)
    .map(({ kind, variant, drive }) => ({ kind, variant, network: `${kind} ${variant}`, drive }));
}

async function driveCurl({ headers, sessions = 1, renews = false }: CurlVariant, url: string): Promise<void> {
  const fixed = ['-s', '-D', '-', '-o', '/dev/null', '-X', 'POST', '-d', '{}', ...headers];
  const post = (more: readonly string[]) => run('curl', [...fixed, ...more, `${url}/__protect/session`]);
  for (let session = 0; session < sessions; session++) {
    const { stdout } = await post(['-H', 'x-recorded-at-ms: 0']);
    const cookie = /set-cookie: ([^;]+)/i.exec(stdout)?.[1] ?? '';
    if (renews) await post(['-H', `Cookie: ${cookie}`, '-H', `x-recorded-at-ms: ${RENEWED_AT_MS}`]);
  }
}

async function driveScript({ headers, environment, report }: ScriptVariant, url: string): Promise<void> {
  const at = (atMs: number) => ({ ...headers, 'x-recorded-at-ms': String(atMs) });
  const opened = await fetch(`${url}/__protect/session`, {
    method: 'POST',
    headers: at(0),
    body: JSON.stringify({ environment }),
  });
  const cookie = opened.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  if (report !== undefined) {
    const body = JSON.stringify(report);
    await fetch(`${url}/__protect/telemetry`, { method: 'POST', headers: { ...at(5000), cookie }, body });
  }
  await fetch(`${url}/__protect/session`, { method: 'POST', headers: { ...at(RENEWED_AT_MS), cookie }, body: '{}' });
}
