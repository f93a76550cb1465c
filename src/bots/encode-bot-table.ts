/** Makes the file of a bot table (`bot-table.ts`). The service calls it. */
import { botTableFormats } from '../contract/edge/formats.ts';
import { RulesetCompiler } from '../rules/compiler.ts';
import { foldCase } from '../rules/user-agent-fold.ts';
import type { CatalogueBot } from './catalogue.ts';
import { BOT_TABLE_HEADER_BYTES, UNREAD, align8, botLine, partsOfFormat, patternText } from './bot-table.ts';

export type ListedBot = Pick<
  CatalogueBot,
  'id' | 'behaviours' | 'patterns' | 'tokens' | 'ranges' | 'dns' | 'agents' | 'isComplete'
>;

export interface BotTableParts {
  builtAtMs: number;
  /** Of two bots with one id or one pattern, the later wins. */
  bots: readonly ListedBot[];
  /** By the address of their source. A source that was never read is not in it. */
  networks: ReadonlyMap<string, readonly string[]>;
}

export function encodeBotTable(
  { builtAtMs, bots, networks }: BotTableParts,
  format: string = botTableFormats[0],
): Uint8Array {
  const [magic, snapshotFormat] = partsOfFormat(format);
  const listed = [...new Map(bots.map((bot) => [bot.id, bot])).values()];
  const urls = [...new Set(listed.flatMap(({ ranges = [] }) => ranges))];
  const owners = new Map(listed.flatMap(({ id, patterns }) => patterns.map((one) => [foldCase(patternText(one)), id])));
  const lines = listed.map(
    ({ id, behaviours, patterns, tokens, ranges = [], dns = [], agents = [], isComplete = false }) =>
      botLine({
        id,
        behaviours,
        patterns: patterns.filter((one) => owners.get(foldCase(patternText(one))) === id),
        tokens,
        ranges: ranges.map((url) => urls.indexOf(url)),
        agents,
        hasDns: dns.length > 0,
        isComplete,
      }),
  );
  const sources = urls.map((url) => networks.get(url)?.join(' ') ?? UNREAD);
  const text = new TextEncoder().encode([builtAtMs, ...lines, '', ...sources].join('\n'));
  const compiler = new RulesetCompiler({ instanceId: '', version: 0, createdAtMs: builtAtMs });
  for (const value of owners.keys()) compiler.add({ type: 'userAgent', value, verdict: 'allow' });
  const snapshot = compiler.finish(0, snapshotFormat);

  const snapshotAt = align8(BOT_TABLE_HEADER_BYTES + text.length);
  const file = new Uint8Array(snapshotAt + snapshot.length);
  file.set(new TextEncoder().encode(magic));
  new DataView(file.buffer).setUint32(8, text.length, true);
  file.set(text, BOT_TABLE_HEADER_BYTES);
  file.set(snapshot, snapshotAt);
  return file;
}
