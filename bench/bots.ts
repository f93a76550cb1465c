/**
 * `npm run bench -- bots`: finding out whether a request is a bot, with the whole catalogue and a list of networks for
 * each of its sources. Every time is the best of several rounds. The floor is reading the header's characters once. The
 * last rows are the gate's own reading of a request in workerd, in turns with that table and before any is loaded:
 * processor time, medians.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Miniflare } from 'miniflare';
import { catalogue } from '../src/bots/catalogue.ts';
import { encodeBotTable } from '../src/bots/encode-bot-table.ts';
import { type BotTable, openBotTable } from '../src/bots/open-bot-table.ts';
import { encodeBase64url } from '../src/bytes/base64url.ts';
import { runtimeOptions } from '../src/cli/runtime-options.ts';
import { bundleWorker, workerConfig } from '../src/cli/worker-config.ts';
import { exactProcessorMs, workerdPids } from './measure/processor-time.ts';
import { median } from './measure/statistics.ts';
import type { BotWork } from './workers/bot-work.ts';

const ROUNDS = 25;
const REQUESTS = 4096;
/** More than most operators publish. */
const NETWORKS_PER_SOURCE = 500;
const BROWSERS = 300;
const GATE_ROUNDS = 9;
/** Of each browser in a round. */
const GATE_READS = 2000;

export async function run(): Promise<void> {
  const listed = catalogue.parse(JSON.parse(readFileSync('src/bots/catalogue.json', 'utf8')));
  const { userAgents } = JSON.parse(readFileSync('test/fixtures/bots/user-agents.json', 'utf8')) as {
    userAgents: string[];
  };
  const networks = new Map(
    listed.rangeSources.map(({ url }, source) => [
      url,
      Array.from({ length: NETWORKS_PER_SOURCE }, (_, i) => `${20 + source}.${i >> 8}.${i & 255}.0/24`),
    ]),
  );
  const parts = { builtAtMs: 0, bots: listed.bots, networks };
  const file = encodeBotTable(parts);
  const patterns = listed.bots.reduce((sum, bot) => sum + bot.patterns.length, 0);
  process.stdout.write(
    `${listed.bots.length} bots, ${patterns} patterns, ${networks.size} lists of ${NETWORKS_PER_SOURCE} networks: ` +
      `${kilobytes(file.length)}, ${kilobytes(gzipSync(file).length)} compressed\n\n`,
  );
  row('compile', best(1, () => void encodeBotTable(parts)) / 1e6, 'ms');
  row('open', best(1, () => void opened(file)) / 1e6, 'ms');

  const table = opened(file);
  const browsers = Array.from({ length: REQUESTS }, (_, i) => browser(i % BROWSERS));
  const floor = best(REQUESTS, () => browsers.forEach((text) => sumOf(text)));
  row('floor: reading a header of a browser', floor / 1000, 'µs');
  const identified = (texts: readonly string[]): number =>
    best(REQUESTS, () => {
      for (let i = 0; i < REQUESTS; i++) table.identify(texts[i % texts.length]!);
    });
  row(`no bot, one of ${BROWSERS} browsers`, identified(browsers) / 1000, 'µs', floor);
  let serial = 0;
  row(
    'no bot, a header that was never seen',
    best(
      REQUESTS,
      (texts: readonly string[]) => {
        for (const text of texts) table.identify(text);
      },
      () => Array.from({ length: REQUESTS }, () => browser((serial += 1))),
    ) / 1000,
    'µs',
    floor,
  );
  row('a bot of the published lists', identified(userAgents.slice(0, REQUESTS)) / 1000, 'µs', floor);
  const bingbot = table.byId('bingbot')!;
  const range = best(REQUESTS, () => {
    for (let i = 0; i < REQUESTS; i++) table.rangeAnswer(bingbot, `40.1.${i & 255}.7`);
  });
  row(`a claimed bot's address among ${NETWORKS_PER_SOURCE} networks`, range / 1000, 'µs', floor);
  await gateRows(file, browsers.slice(0, BROWSERS));
}

/** What the gate pays for a request that is no bot, of browsers that it has seen. */
async function gateRows(table: Uint8Array, userAgents: readonly string[]): Promise<void> {
  const storage = mkdtempSync(join(tmpdir(), 'gatehouse-bench-bots-'));
  const worker = { name: 'bench', main: 'bench/workers/bots-worker.ts', compatibility_date: '2026-10-01' };
  const config = workerConfig(worker, await bundleWorker(worker.main), {});
  const miniflare = new Miniflare({ ...runtimeOptions('bench', storage, true), workers: [{ config }] });
  try {
    await miniflare.ready;
    const pids = workerdPids();
    const spentMs = async (work: BotWork): Promise<number> => {
      const before = exactProcessorMs(pids);
      const response = await miniflare.dispatchFetch('http://bench/', { method: 'POST', body: JSON.stringify(work) });
      const { named } = (await response.json()) as { named: number };
      if (named > 0) throw new Error('A browser is taken for a bot');
      return exactProcessorMs(pids) - before;
    };
    const microseconds = async (file: string | null): Promise<number> => {
      const readMs = await spentMs({ file, userAgents, times: GATE_READS });
      const aloneMs = await spentMs({ file, userAgents, times: 0 });
      return ((readMs - aloneMs) * 1000) / (GATE_READS * userAgents.length);
    };
    const file = encodeBase64url(table);
    const without: number[] = [];
    const withTable: number[] = [];
    for (let round = 0; round < GATE_ROUNDS; round++) {
      without.push(await microseconds(null));
      withTable.push(await microseconds(file));
    }
    const costs = withTable.map((one, round) => one - without[round]!);
    row('the gate, no bot, before a table is loaded', median(without), 'µs');
    row('the gate, no bot, with the table', median(withTable), 'µs');
    row('so bots cost a request that is none (at most 2 µs)', median(costs), 'µs');
    process.stdout.write(`rounds: ${costs.map((cost) => cost.toFixed(2)).join(', ')}\n`);
  } finally {
    await miniflare.dispose();
    rmSync(storage, { recursive: true, force: true });
  }
}

/** A flat text, as a header is; a template is put together only when it is read. */
const browser = (i: number): string => Buffer.from(browserText(i)).toString('latin1');
const browserText = (i: number): string =>
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${100 + (i % 43)}.0.${i}.${
    i % 97
  } Safari/537.36`;

function sumOf(text: string): number {
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum += text.charCodeAt(i);
  return sum;
}

function opened(file: Uint8Array): BotTable {
  const result = openBotTable(file);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

/** Nanoseconds for each item in the best round. */
function best<Input>(items: number, round: (input: Input) => void, prepare?: () => Input): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < ROUNDS; i++) {
    const input = prepare?.() as Input;
    const startedAt = performance.now();
    round(input);
    least = Math.min(least, performance.now() - startedAt);
  }
  return (least * 1e6) / items;
}

const kilobytes = (bytes: number): string => `${Math.round(bytes / 1000)} kB`;

function row(name: string, value: number, unit: string, floorNs?: number): void {
  const ratio = floorNs === undefined ? '' : `  ${((value * 1000) / floorNs).toFixed(1)}× the floor`;
  process.stdout.write(`${name.padEnd(52)}${value.toFixed(3).padStart(9)} ${unit}${ratio}\n`);
}
