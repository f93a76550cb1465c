/** The commands on the database as entries of the table. What runs them needs the repository. */
import { resolve } from 'node:path';
import type { CommandLine } from '../command-line.ts';
import type { Command, Commands, Given } from '../command.ts';
import type { Screen } from '../print/screen.ts';
import { table, timeText, type TextColumn } from '../print/table.ts';
import { databaseLines } from './lines.ts';

type Row = Readonly<Record<string, unknown>>;

/** Lists as tables. Other results are fields. */
const columns: Readonly<Record<string, readonly TextColumn<Row>[]>> = {
  'account list': [
    whole('ID', 'id'),
    of('TIER', 'tier'),
    of('OWNER', 'ownerEmail'),
    of('DISABLED', 'disabled'),
    { ...of('PAYMENT OWED', 'paymentOwed'), isExtra: true },
    { ...at('CREATED', 'createdAt'), isExtra: true },
  ],
  'site list': [
    of('NAME', 'name'),
    whole('SITE KEY', 'siteKey'),
    { ...whole('SECRET KEY', 'secretKey'), isExtra: true },
    { title: 'DOMAINS', cell: ({ settings }) => texts((settings as Row | undefined)?.['domains']) },
    of('ACTIVE', 'active'),
  ],
  'instance list': [
    whole('ID', 'id'),
    of('NAME', 'name'),
    of('HOST', 'cname'),
    of('MONITOR', 'monitor'),
    of('ACTIVE', 'active'),
    { ...whole('SITE KEY', 'globalSiteKey'), isExtra: true },
  ],
  'key list': [
    whole('ID', 'id'),
    of('NAME', 'name'),
    at('EXPIRES', 'expiresAt'),
    { title: 'PERMISSIONS', cell: ({ permissions }) => texts(Object.values((permissions ?? {}) as object).flat()) },
  ],
  'bots find': [
    of('ID', 'id'),
    of('NAME', 'name'),
    { ...of('OPERATOR', 'operator'), isExtra: true },
    { title: 'COMES FOR', cell: ({ behaviours }) => texts(behaviours) },
    { title: 'PROVED BY', cell: proofsOf, isExtra: true },
  ],
  'bots lists': [
    of('URL', 'url'),
    { ...of('NETWORKS', 'networkCount'), isExtra: true },
    of('WAITS', 'waitsForAccept'),
    { title: 'READ', cell: ({ confirmedAt }) => (confirmedAt as string | null)?.slice(0, 16).replace('T', ' ') },
    { ...of('ERROR', 'error'), isExtra: true },
  ],
};

export const databaseCommands: Commands = Object.fromEntries(
  Object.entries(databaseLines).map(([name, line]) => [name, databaseCommand(name, line)]),
);

function databaseCommand(name: string, line: CommandLine & { example: string }): Command {
  const ofName = columns[name];
  const print = (result: unknown, screen: Screen): string[] => {
    const rows = result as readonly Row[];
    return rows.length === 0 ? ['None.'] : table(ofName ?? [], rows, screen);
  };
  return {
    ...line,
    on: 'database',
    needs: 'repository',
    run: async (given) => (await import('./run-on-database.ts')).runOnDatabase(wordsOf(name, given), given),
    ...(ofName === undefined ? {} : { print }),
  };
}

/** The stack that runs the command has a working directory of its own. */
function wordsOf(name: string, { words, positionals: [dir = ''] }: Given): readonly string[] {
  return name === 'log copy' ? ['log', 'copy', resolve(dir)] : words;
}

function of(title: string, field: string): TextColumn<Row> {
  return { title, cell: (row) => row[field] as string | number | boolean | null };
}

function whole(title: string, field: string): TextColumn<Row> {
  return { ...of(title, field), isWhole: true };
}

function at(title: string, field: string): TextColumn<Row> {
  return { title, cell: (row) => timeText(row[field] as number | null), isWhole: true };
}

function texts(list: unknown): string {
  return Array.isArray(list) ? list.join(', ') : '';
}

function proofsOf({ ranges, networks, dns, agents }: Row): string {
  const proofs = { range: [ranges, networks], dns: [dns], signature: [agents] };
  return Object.entries(proofs)
    .filter(([, lists]) => lists.some((list) => Array.isArray(list) && list.length > 0))
    .map(([proof]) => proof)
    .join(', ');
}
