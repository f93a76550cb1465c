/**
 * `gatehouse rules import|export|history|rollback`: access rules over the management API, of a local stack or a deployed
 * service.
 */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { command } from './command.ts';
import type { Commands, Given } from './command.ts';
import { wholeNumber } from './flag-values.ts';
import { rulesPreview } from './rules-preview.ts';
import { importFile } from './import-rules.ts';
import { call, CallError, post, targetFlags } from './management-call.ts';

const RULES = '/protect/access-rules';
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
  const response = await post(given.target(), `${RULES}/export`, { format: wanted, verdict: only });
  if (!response.body) throw new CallError('The service sent an empty response. Try again.');
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  if (out === undefined) {
    for await (const chunk of body) await given.write(chunk as Uint8Array);
    return undefined;
  }
  await writeWhole(out, body);
  return { out };
}

/** A failure in the middle leaves no part of the file under its name. */
async function writeWhole(path: string, body: Readable): Promise<void> {
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
