/** What each `gatehouse policies …` takes. */
import type { CommandLine } from '../command-line.ts';
import { targetFlags } from '../management-call.ts';

const write = { note: 'TEXT', 'if-version': 'N', ...targetFlags };
const rule = { description: 'TEXT', mode: 'enforce|monitor' };

export const policyCommands = {
  'policies list': {
    about: 'Lists the policies in their order, or those of an earlier version.',
    optional: { version: 'N', 'hits-since': 'TIME', ...targetFlags },
    switches: ['json'],
  },
  'policies show': { about: 'Shows one policy as JSON.', positionals: ['NAME'], optional: targetFlags },
  'policies set': {
    about: 'Replaces the policies, limits and origins by those of a JSON file. FILE may be - for standard input.',
    positionals: ['FILE'],
    optional: write,
    switches: ['dry-run'],
  },
  'policies add': {
    about:
      'Adds a policy at the end, or before another one. ACTION is such as block, "challenge 2" or "redirect /x 302".',
    positionals: ['NAME'],
    required: { when: 'CONDITION', then: 'ACTION' },
    optional: { before: 'NAME', ...rule, ...write },
    switches: ['dry-run'],
  },
  'policies update': {
    about: 'Changes what is given of a policy, and keeps the rest.',
    positionals: ['NAME'],
    optional: { when: 'CONDITION', then: 'ACTION', name: 'NAME', ...rule, ...write },
    switches: ['dry-run'],
  },
  'policies move': {
    about: 'Puts a policy before another one, or at the end.',
    positionals: ['NAME'],
    optional: { before: 'NAME', ...write },
    switches: ['dry-run'],
  },
  'policies remove': { about: 'Removes a policy.', positionals: ['NAME'], optional: write, switches: ['dry-run'] },
  'policies check': {
    about: 'Checks a condition without a service, and prints both of its forms.',
    positionals: ['CONDITION'],
  },
  'policies test': {
    about:
      'Says which policies apply to a request: its reference in the log, an address, or a file with a request as JSON, HTTP or a curl command (- for standard input).',
    positionals: ['REQUEST'],
    optional: { policies: 'FILE', ...targetFlags },
  },
  'policies preview': {
    about: 'Says what the requests of the last day, or since TIME, would have got under the policies of a JSON file.',
    positionals: ['FILE'],
    optional: { since: 'TIME', until: 'TIME', ...targetFlags },
  },
  'policies import': {
    about:
      'Reads rules of another product and reports on each. Without --apply nothing changes. New policies are in mode monitor, and challenge, unless the flags or the rules say otherwise.',
    positionals: ['FILE'],
    required: { format: 'cloudflare|anubis' },
    optional: { mode: 'enforce|monitor', action: 'allow|challenge|block', place: 'end|start|replace', ...write },
    switches: ['apply'],
  },
  'policies history': {
    about: 'Lists the versions that are kept, 50 unless --limit says otherwise.',
    optional: { limit: 'N', ...targetFlags },
  },
  'policies diff': {
    about: 'Compares a version with the current one, or with --to.',
    positionals: ['VERSION'],
    optional: { to: 'N', ...targetFlags },
    switches: ['json'],
  },
  'policies rollback': {
    about: 'Makes the policies what they were at a version of the history.',
    positionals: ['VERSION'],
    optional: write,
    switches: ['dry-run'],
  },
} satisfies Record<string, CommandLine>;
