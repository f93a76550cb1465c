/** For each watched metric: its name for people, what is normal, and what to do when it is not. */
import type { Sign } from './findings.ts';

interface Advice {
  title: string;
  normal: string;
  todo: string;
}

const NEVER = 'It never rises.';

export const advice: Readonly<Record<Sign, Advice>> = {
  rules_failing: {
    title: 'Rules that cannot be compiled or sent',
    normal: '0. The newest rules reach every edge within seconds.',
    todo: 'The last rules stay in force. The log of the service says which rule it is: change or delete it.',
  },
  edge_rules_old: {
    title: 'Edges with old rules',
    normal: '0. An edge takes new rules within seconds, or a minute without visitors.',
    todo: 'The edge polls and cannot take the rules: see its health and its log. Its last rules stay in force.',
  },
  rulesets_refused: {
    title: 'Rulesets that the edge refused',
    normal: NEVER,
    todo: 'A ruleset is damaged or forged, and the previous one stays active. Find out who can write to the storage.',
  },
  requests_without_ruleset: {
    title: 'Requests without rules',
    normal: 'A few after a deployment, and none after a minute.',
    todo: 'The edge finds no rules anywhere, and FAIL_MODE decides. Check SERVICE_URL, the client JWT and the log of the edge.',
  },
  origin_failures: {
    title: 'Requests that the origin did not answer',
    normal: NEVER,
    todo: 'Visitors get 502. Check that the origin runs, and that ORIGIN_URL leads to it.',
  },
  named_origin_failures: {
    title: 'Requests that a named origin did not answer',
    normal: NEVER,
    todo: 'Visitors get 502. Check that it runs, and its address. The table of origins has each by its name. The health of the edge says why it cannot be called.',
  },
  origin_loops: {
    title: 'Requests that came back to the gate',
    normal: NEVER,
    todo: 'ORIGIN_URL leads back to the gate, and visitors get an error page. Set it to the origin itself.',
  },
  exceptions: {
    title: 'Requests that ended in an exception',
    normal: NEVER,
    todo: 'A bug, or somebody who found one. The failure policy decides about these requests. The log of the edge has them.',
  },
  service_failures: {
    title: 'Calls to the service that failed',
    normal: 'Single ones. Rules and verdicts wait for the next call.',
    todo: 'When it rises for some minutes, rules get old and verdicts wait in the queue. Check that the service runs.',
  },
  verify_failures: {
    title: 'Tokens that could not be verified',
    normal: 'Single ones while the service is replaced.',
    todo: 'With the cause “refused”, the site was deleted or the account disabled. Otherwise the service cannot be reached.',
  },
  local_challenges: {
    title: 'Challenges of the edge itself',
    normal: 'None while the service can be reached.',
    todo: 'Visitors pass with level 0 while the service cannot be reached. Bring the service back.',
  },
  verdicts_dropped: {
    title: 'Verdicts that were dropped',
    normal: NEVER,
    todo: 'The log has gaps. The reason names the place: a full buffer, or a sink that failed.',
  },
  verdicts_missing: {
    title: 'Verdicts that are not in the log',
    normal: 'A few, for seconds: they are on their way.',
    todo: 'When it stays, the log has gaps. It falls again when records arrive late, for example from the queue.',
  },
  dead_letters: {
    title: 'Dead letters',
    normal: '0, or some for less than an hour.',
    todo: 'The log refuses batches. See “dead-letter-replay-failed” in the log of the service.',
  },
  verdicts_rejected: {
    title: 'Verdicts that the log refused',
    normal: NEVER,
    todo: 'Edge and service disagree, for example about the time. The reason is in the label. Deploy the same version of both.',
  },
  unreadable_addresses: {
    title: 'Visitors without a readable address',
    normal: NEVER,
    todo: 'These visitors get an error: the proxy in front sends something else than one address. Check its header.',
  },
  submissions_refused: {
    title: 'Forms that were refused',
    normal: NEVER,
    todo: 'Honest forms get 503, because somebody holds all the room for forms. Block them by address or fingerprint.',
  },
  scripts_not_injected: {
    title: 'Pages without the protect script',
    normal: 'It stands still between releases of the site.',
    todo: 'Visitors of these pages get no session and are challenged. Send the pages as utf-8 with a head, without another encoding. A reason such as script-src is a directive of their Content-Security-Policy: add ‘self’ to script-src and connect-src, gatehouse to trusted-types, and allow-scripts allow-same-origin to sandbox.',
  },
  feed_failures: {
    title: 'Refreshes of rules that failed',
    normal: NEVER,
    todo: 'A bug: rules and configuration are not renewed, and the last ones stay in force. The log of the edge says why.',
  },
  kv_failures: {
    title: 'Calls to KV that failed',
    normal: 'Single ones.',
    todo: 'When it rises for some minutes, the copy of rules and configuration for outages gets old.',
  },
  test_secrets_refused: {
    title: 'Test secrets',
    normal: NEVER,
    todo: 'The site has a public test secret, so the edge keeps its previous configuration. Rotate the secret of the site.',
  },
};
