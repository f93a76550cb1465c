/** The commands `gatehouse policies …`: what each takes, and what people see. */
import { command, type Commands } from '../command.ts';
import { targetFlags } from '../management-call.ts';
import * as policies from './policies.ts';
import { differenceLines, importLines, policyLines, writtenLines } from './printed.ts';
import { previewLines, testLines } from './printed-tests.ts';

const write = { note: 'TEXT', 'if-version': 'N', ...targetFlags };
const rule = { description: 'TEXT', mode: 'enforce|monitor' };

export const policyCommands: Commands = {
  'policies list': command({
    about: 'Lists the policies in their order, or those of an earlier version.',
    example: 'policies list',
    on: 'service',
    optional: { version: 'N', 'hits-since': 'TIME', ...targetFlags },
    run: policies.listed,
    print: (listing) => policyLines(listing.version, listing.policies),
  }),
  'policies show': command({
    about: 'Shows one policy as JSON.',
    example: 'policies show NAME',
    on: 'service',
    positionals: ['NAME'],
    optional: targetFlags,
    run: policies.shown,
    print: (policy) => [JSON.stringify(policy, null, 2)],
  }),
  'policies set': command({
    about: 'Replaces the policies, limits and origins by those of a JSON file. FILE may be - for standard input.',
    example: 'policies set set.json',
    on: 'service',
    positionals: ['FILE'],
    optional: write,
    switches: ['dry-run'],
    run: policies.replaced,
    print: writtenLines,
  }),
  'policies add': command({
    about:
      'Adds a policy at the end, or before another one. ACTION is such as block, "challenge 2" or "redirect /x 302".',
    example: `policies add shop-bots --when 'path startsWith "/shop"' --then challenge`,
    on: 'service',
    positionals: ['NAME'],
    required: { when: 'CONDITION', then: 'ACTION' },
    optional: { before: 'NAME', ...rule, ...write },
    switches: ['dry-run'],
    run: policies.added,
    print: writtenLines,
  }),
  'policies update': command({
    about: 'Changes what is given of a policy, and keeps the rest.',
    example: 'policies update NAME --mode enforce',
    on: 'service',
    positionals: ['NAME'],
    optional: { when: 'CONDITION', then: 'ACTION', name: 'NAME', ...rule, ...write },
    switches: ['dry-run'],
    run: policies.updated,
    print: writtenLines,
  }),
  'policies move': command({
    about: 'Puts a policy before another one, or at the end.',
    example: 'policies move NAME',
    on: 'service',
    positionals: ['NAME'],
    optional: { before: 'NAME', ...write },
    switches: ['dry-run'],
    run: policies.moved,
    print: writtenLines,
  }),
  'policies remove': command({
    about: 'Removes a policy.',
    example: 'policies remove NAME',
    on: 'service',
    positionals: ['NAME'],
    optional: write,
    switches: ['dry-run'],
    run: policies.removed,
    print: writtenLines,
  }),
  'policies check': command({
    about: 'Checks a condition without a service, and prints both of its forms.',
    example: `policies check 'path startsWith "/api"'`,
    on: 'machine',
    isDocument: true,
    positionals: ['CONDITION'],
    run: policies.checked,
    print: ({ text, expression }) => [text, '', JSON.stringify(expression, null, 2)],
  }),
  'policies test': command({
    about:
      'Says which policies apply to a request: its reference in the log, an address, or a file with a request as JSON, HTTP or a curl command (- for standard input).',
    example: 'policies test https://www.example.com/login',
    on: 'service',
    positionals: ['REQUEST'],
    optional: { policies: 'FILE', ...targetFlags },
    run: policies.tested,
    print: testLines,
  }),
  'policies preview': command({
    about: 'Says what the requests of the last day, or since TIME, would have got under the policies of a JSON file.',
    example: 'policies preview strict.json',
    on: 'service',
    positionals: ['FILE'],
    optional: { since: 'TIME', until: 'TIME', ...targetFlags },
    run: policies.previewed,
    print: previewLines,
  }),
  'policies import': command({
    about:
      'Reads rules of another product and reports on each. Without --apply nothing changes. New policies are in mode monitor, and challenge, unless the flags or the rules say otherwise.',
    example: 'policies import rules.txt --format cloudflare',
    on: 'service',
    positionals: ['FILE'],
    required: { format: 'cloudflare|anubis' },
    optional: { mode: 'enforce|monitor', action: 'allow|challenge|block', place: 'end|start|replace', ...write },
    switches: ['apply'],
    run: policies.imported,
    print: importLines,
    exitCode: ({ taken, takenWithADifference }) => (taken + takenWithADifference === 0 ? 1 : 0),
  }),
  'policies history': command({
    about: 'Lists the versions that are kept, 50 unless --limit says otherwise.',
    example: 'policies history',
    on: 'service',
    optional: { limit: 'N', ...targetFlags },
    run: policies.history,
  }),
  'policies diff': command({
    about: 'Compares a version with the current one, or with --to.',
    example: 'policies diff 1',
    on: 'service',
    positionals: ['VERSION'],
    optional: { to: 'N', ...targetFlags },
    run: policies.compared,
    print: ({ from, to, differences }) => {
      const lines = differenceLines(differences);
      return lines.length === 0 ? [`Versions ${from} and ${to} are the same.`] : lines;
    },
  }),
  'policies rollback': command({
    about: 'Makes the policies what they were at a version of the history.',
    example: 'policies rollback 1',
    on: 'service',
    positionals: ['VERSION'],
    optional: write,
    switches: ['dry-run'],
    run: policies.rolledBack,
    print: writtenLines,
  }),
};
