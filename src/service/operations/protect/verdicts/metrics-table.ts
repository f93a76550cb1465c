/**
 * Every metric of `GET /protect/metrics`, with its help text. A metric is exported with 0 before it is first counted, so
 * that an alert on it works from the start. To add one, count it under its name and add a line here: a test compares
 * this table with what the source counts, and the page for operators with the metrics that wake somebody.
 */
import { decisions, refusalReasons, verdictSources } from '../../../../contract/vocabulary.ts';

interface Metric {
  /** Without the prefix `gatehouse_`. */
  name: string;
  type: 'counter' | 'gauge';
  help: string;
  /** The label, and its values that are exported before they are counted. */
  label?: { name: string; values: readonly string[] };
  /** Whether a rise should wake somebody (docs/operations.md, "What to watch"). */
  wakes?: true;
}

const counter = (name: string, help: string): Metric => ({ name, type: 'counter', help });
const gauge = (name: string, help: string): Metric => ({ name, type: 'gauge', help });
const by = (name: string, values: readonly string[], metric: Metric): Metric => ({
  ...metric,
  label: { name, values },
});
const wakes = (metric: Metric): Metric => ({ ...metric, wakes: true });

/** Of the edge. */
const sinks = ['service', 'queue', 'r2', 'analytics-engine', 'http', 'console'];
/** Of challenges. */
const outcomes = ['issued', 'passed', 'failed'];

export const metrics: readonly Metric[] = [
  by('decision', decisions, counter('requests', 'Requests by decision; in monitor mode, what would have been decided')),
  by('source', verdictSources, counter('request_sources', 'Requests by the source of their decision')),
  by(
    'class',
    ['1xx', '2xx', '3xx', '4xx', '5xx'],
    counter('origin_responses', 'Responses of the origin by class of their status'),
  ),
  wakes(counter('origin_failures', 'Requests that the origin did not respond to')),
  by(
    'origin',
    [],
    counter('named_origin_requests', 'Requests that went to an origin that the instance names, by its name'),
  ),
  wakes(
    by(
      'origin',
      [],
      counter(
        'named_origin_failures',
        'Those that the origin did not respond to or sent back to the gate, or that the edge cannot send',
      ),
    ),
  ),
  by(
    'origin',
    [],
    counter('named_origin_errors', 'Responses of an origin that the instance names with a status of 500 and above'),
  ),
  counter('robots_failures', 'Times that robots.txt of the origin could not be read'),
  counter('uploads_broken', 'Requests whose body or response broke off: the visitor left, or the origin hung up'),
  wakes(counter('origin_loops', 'Requests that the origin sent back to the gate')),
  by(
    'outcome',
    outcomes,
    counter('challenges', 'Challenges of the service: issued through the gate, and answers to them'),
  ),
  by('verified', ['true', 'false'], counter('verifications', 'Tokens that the edge verified with the service')),
  gauge('ruleset_age_seconds', 'Time since the edge access rules changed'),
  gauge('ruleset_version', 'Newest version of the edge access rules'),
  by('edge', [], gauge('edge_contact_age_seconds', 'Time since an edge made contact; an edge is its client JWT')),
  wakes(by('edge', [], gauge('edge_rules_old', '1 while an edge has lacked a change of the rules for three minutes'))),
  wakes(
    by('step', ['compile', 'delta'], gauge('rules_failing', '1 while the newest rules cannot be compiled or sent')),
  ),

  wakes(counter('exceptions', 'Requests that ended in an exception; the failure policy decided')),
  wakes(counter('requests_without_ruleset', 'Requests that came before any ruleset was loaded; FAIL_MODE decided')),
  wakes(
    by(
      'from',
      ['cache', 'service', 'kv', 'backup'],
      counter('rulesets_refused', 'Rulesets that were damaged, wrongly signed or of another instance'),
    ),
  ),
  wakes(
    by(
      'kind',
      ['unreachable', 'unreadable', 'body', 'status-401', 'status-429', 'status-500', 'status-503'],
      counter('service_failures', 'Calls to the service that failed, by their cause'),
    ),
  ),
  wakes(
    by(
      'kind',
      ['unreachable', 'nonsense', 'refused'],
      counter('verify_failures', 'Tokens that could not be verified, by cause: FAIL_MODE_VERIFY decided'),
    ),
  ),
  wakes(
    by(
      'outcome',
      outcomes,
      counter(
        'local_challenges',
        'Challenges of the edge itself, at level 0, in place of the service, and answers to them',
      ),
    ),
  ),
  wakes(
    by(
      'reason',
      ['buffer-full', ...sinks.map((sink) => `${sink}-failed`)],
      counter('verdicts_dropped', 'Verdicts that no sink accepted'),
    ),
  ),
  wakes(gauge('verdicts_missing', 'Verdicts that isolates numbered and the log does not have')),
  wakes(gauge('dead_letters', 'Batches that the queue gave up and the scheduled run tries again')),
  wakes(by('reason', refusalReasons, counter('verdicts_rejected', 'Verdicts that the log refused'))),
  wakes(counter('unreadable_addresses', 'Requests refused because the address that the proxy sent is not one')),
  wakes(by('reason', ['memory'], counter('submissions_refused', 'Forms that the edge had no room to hold'))),
  wakes(
    by(
      'reason',
      ['encoding', 'charset', 'markup', 'sandbox', 'script-src', 'connect-src', 'trusted-types'],
      counter(
        'scripts_not_injected',
        'Pages that passed untouched: the protect script has no safe place in them, or their policy keeps it from working',
      ),
    ),
  ),
  wakes(
    by(
      'kind',
      ['exception'],
      counter('feed_failures', 'Refreshes of rules and configuration that ended in an exception'),
    ),
  ),
  wakes(by('operation', ['get', 'put', 'delete'], counter('kv_failures', 'Calls to KV that failed'))),
  wakes(counter('test_secrets_refused', 'Configurations with a test secret that the edge does not allow')),

  by(
    'step',
    ['challenge', 'solution'],
    counter('challenge_failures', 'Challenge calls that the service did not answer'),
  ),
  counter('challenges_without_service', 'Challenge pages shown while the service did not respond'),
  counter('local_sessions', 'Sessions that the edge opened itself in place of the service'),
  counter('session_failures', 'Sessions that could not be opened'),
  counter('session_refresh_failures', 'Sessions that could not be renewed in time'),
  counter('telemetry_failures', 'Reports of pages that the service did not accept'),
  counter('seal_spend_failures', 'Held forms whose spending the service did not confirm'),
  counter('wait_ledger_failures', 'Visitors who waited, whose turn the service did not confirm'),
  counter('limits_unreported', 'Counts that an isolate could not keep until they were reported'),
  counter('limit_report_failures', 'Reports of counts that the service did not accept'),
  counter('limit_take_failures', 'Keys of exact limits that the service did not answer for'),
  counter('limits_unreachable', 'Requests that an exact limit could not count: they passed, or got 503 by its setting'),
  by('operation', ['get', 'put'], counter('cache_failures', 'Calls to the location cache that failed')),
  counter('client_files_refused', 'Scripts from the service that did not have the expected hash'),
  counter('management_api_failures', 'Calls to the management API of another service that failed'),
  counter('foreign_rules_skipped', 'Rules of another service that this edge cannot express'),
  by('sink', sinks, counter('log_sink_failures', 'Attempts to deliver verdicts that failed')),
  counter('verdicts_queued', 'Verdicts that went to the queue because the service did not accept them'),
  counter('verdicts_replayed', 'Verdicts of dead letters that arrived after all'),
  counter('verdicts_conflicting', 'Verdicts with a known id and another content'),
  counter('risk_bursts_missed', 'Bursts of verdicts that the session scores did not get'),
];
