/**
 * `gatehouse rules import|export|history|rollback`: access rules over the management API, of a local stack or a deployed
 * service.
 */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { command, type Commands, type Given } from './command.ts';
import { wholeNumber } from './flag-values.ts';
import { rulesPreview } from './rules-preview.ts';
import { importFile } from './import-rules.ts';
import { call, CallError, post, type Target, targetFlags } from './management-call.ts';

const RULES = '/protect/access-rules';
const LINE_FEED = 10;
const format = { format: 'csv|ndjson|list' };
const verdict = { verdict: 'allow|challenge|block' };

export const ruleCommands: Commands = {
  'rules import': command({
    about:
      'Creates or updates a rule for each line. FILE may be - for standard input. --verdict, --mode, --expiry and --note are for lines without one. --dry-run changes nothing.',
    example: 'rules import blocklist.csv --verdict block',
    on: 'service',
    positionals: ['FILE'],
    optional: { ...format, ...verdict, mode: 'enforce|monitor', expiry: 'DATE|30d', note: 'TEXT', ...targetFlags },
    switches: ['dry-run'],
    run: importFile,
  }),
  'rules preview': rulesPreview,
  'rules export': command({
    about: 'Writes every rule, or those with one verdict, to standard output or to a file.',
    example: 'rules export --format csv --out rules.csv',
    on: 'service',
    isDocument: true,
    optional: { ...format, ...verdict, out: 'FILE', ...targetFlags },
    run: exported,
    print: ({ out }) => [`The rules are in ${out}.`],
  }),
  'rules history': command({
    about: 'Lists the last versions of the rules, 50 unless --limit says otherwise.',
    example: 'rules history --limit 10',
    on: 'service',
    optional: { limit: 'N', ...targetFlags },
    run: (given) => {
      const limit = wholeNumber('--limit', given.values['limit'] ?? '50');
      return call(given.target(), `${RULES}/history`, { limit });
    },
  }),
  'rules rollback': command({
    about: 'Makes the rules what they were at a version of the history.',
    example: 'rules rollback VERSION',
    on: 'service',
    positionals: ['VERSION'],
    optional: targetFlags,
    run: (given) => {
      const version = wholeNumber('VERSION', given.positionals[0] ?? '');
      return call(given.target(), `${RULES}/rollback`, { version });
    },
  }),
};

async function exported(given: Given): Promise<{ out: string } | undefined> {
  const { format: wanted, verdict: only, out } = given.values;
  const target = given.target();
  const progress = given.progress('rules export');
  const total = progress.isShown ? await countOf(target, only) : null;
  const response = await post(target, `${RULES}/export`, { format: wanted, verdict: only });
  if (!response.body) throw new CallError('The service sent an empty response. Try again.');
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  const counted = countedLines(body, (lines) => progress.at(lines, total, `${lines} of ${total ?? 'all'} rules`));
  try {
    if (out === undefined) for await (const chunk of counted) await given.write(chunk);
    else await writeWhole(out, counted);
  } finally {
    progress.end();
  }
  return out === undefined ? undefined : { out };
}

async function countOf(target: Target, only: string | undefined): Promise<number> {
  return ((await call(target, RULES, { limit: 1, verdict: only })) as { total: number }).total;
}

/** A rule is a line of the file, except in notes with line breaks. */
async function* countedLines(body: AsyncIterable<unknown>, seen: (lines: number) => void): AsyncGenerator<Uint8Array> {
  let lines = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    for (const byte of chunk) if (byte === LINE_FEED) lines += 1;
    seen(lines);
    yield chunk;
  }
}

/** A failure in the middle leaves no part of the file under its name. */
async function writeWhole(path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  const partial = `${path}.partial`;
  try {
    await pipeline(body, createWriteStream(partial));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    const what = error instanceof Error ? error.message : String(error);
    throw new CallError(`${path} cannot be written as a whole. Check the folder and the connection. ${what}`);
  }
}
