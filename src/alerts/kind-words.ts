/**
 * The words of every kind of alert, by its name. To add a kind: its name in the contract, its words here, and a source that
 * observes it.
 */
import type { SentKind } from '../contract/management/alerts.ts';
import type { Alert, AlertFacts } from './alert.ts';

/** What a kind of alert says. `about` is the name of the instance or of the key; facts are those of its source. */
interface KindWords {
  /** A few words, as a headline. */
  title: string;
  /** What happened, then what to do. */
  begun(about: string, facts: AlertFacts): string;
  /** Only of kinds that end. */
  ended(about: string, facts: AlertFacts): string;
}

/** The message for the end of an alert whose kind has no end, because it happens once. */
const neverEnds = (): string => '';

function count(value: string | number | undefined): string {
  return Number(value ?? 0).toLocaleString('en-US');
}

function percent(value: string | number | undefined): string {
  return `${Math.round(Number(value ?? 0) * 100)} %`;
}

const attackReasons: Readonly<Record<string, string>> = {
  refused: ', and most of them are challenged or blocked',
  'origin-errors': ', and the origin fails',
  'origin-latency': ', and the origin is slow',
};

export const kindWords: Readonly<Record<SentKind, KindWords>> = {
  /** Far more requests than usual, or more that are refused, fail or take long. */
  attack: {
    title: 'An attack',
    begun: (about, facts) =>
      `${about} gets ${count(facts['rate'])} requests a second, usually ${count(facts['usualRate'])}` +
      `${attackReasons[String(facts['reason'])] ?? ''}. Attack mode is ${mode(facts)}` +
      (facts['told'] === 'last' ? ' Further attacks of the next hours are told only if they are much larger.' : ''),
    ended: (about, facts) =>
      facts['watched'] === 'no'
        ? `The traffic of ${about} is no longer watched. Attack mode is ${mode(facts)}`
        : `The traffic of ${about} is as usual again. Attack mode is ${mode(facts)}`,
  },
  /** The client JWT of an edge is about to expire: the edge then keeps its last rules and can verify nothing. */
  'client-jwt-expiring': {
    title: 'A client JWT is about to expire',
    begun: (about, { jti, expiresAt }) =>
      `The client JWT ${String(jti)} of ${about} expires at ${String(expiresAt)}, and an edge still uses it. ` +
      'Generate another one, and set it as the secret of the edge.',
    ended: neverEnds,
  },
  /** An API key is about to expire: what uses it stops working. */
  'api-key-expiring': {
    title: 'An API key is about to expire',
    begun: (about, { expiresAt }) =>
      `The API key ${about} expires at ${String(expiresAt)}. Create another one, and give it to what uses this one.`,
    ended: neverEnds,
  },
  /** An edge lacks a change of the rules for long, or the newest rules cannot be compiled or sent. */
  'rules-stale': {
    title: 'Access rules are out of date',
    begun: (about, { edge, step }) =>
      edge === undefined
        ? `The newest access rules of ${about} cannot be ${step === 'compile' ? 'compiled' : 'sent to its edges'}. ` +
          'The log of the service says why.'
        : `The edge ${String(edge)} of ${about} has lacked a change of the access rules for minutes. ` +
          'Check that it reaches the service and can write to its cache.',
    ended: (about, { edge }) =>
      edge === undefined
        ? `The access rules of ${about} are compiled and sent again.`
        : `The edge ${String(edge)} of ${about} has the newest access rules, or is no longer in use.`,
  },
  /** A list of an instance is not read well any more: it is out of date, or has expired. */
  'list-stale': {
    title: 'A list is out of date',
    begun(about, { list, reason, error, readAt }) {
      const since = readAt === 'never' ? 'has never been read well' : `was last read well at ${String(readAt)}`;
      const effect = reason === 'expired' ? ', has expired and decides nothing' : '';
      const why = error === '' ? '' : ` The last attempt: ${String(error)}.`;
      return `The list ${String(list)} of ${about} ${since}${effect}.${why} See gatehouse lists show ${String(list)}.`;
    },
    ended: (about, { list }) => `The list ${String(list)} of ${about} is up to date again, or was deleted.`,
  },
  /** Verdicts that isolates numbered and that the log does not have, or that no sink accepted. */
  'verdicts-lost': {
    title: 'Verdicts are lost',
    begun: (about, { lost, requests }) =>
      `The log of ${about} lacks ${count(lost)} verdicts of about ${count(requests)} requests. ` +
      'See docs/failure-modes.md, and check the queue and the sinks of the edge.',
    ended: (about) => `The log of ${about} has every new verdict again.`,
  },
  /** An object of an instance is near a bound of what it stores: soon it refuses what is new. */
  'storage-filling': {
    title: 'Storage is nearly full',
    begun(about, { what, used, limit }) {
      const amount = `${count(used)} of at most ${count(limit)}`;
      switch (what) {
        case 'access-rules':
          return `${about} has ${amount} access rules and entries of lists. Remove what is no longer needed.`;
        case 'unsealed-verdicts':
          return (
            `A log shard of ${about} holds ${amount} verdicts that it could not write to R2. ` +
            'Check the bucket: a full shard takes no more, and verdicts wait in the queue.'
          );
        default:
          return `A log shard of ${about} has ${amount} MB. Shorten the retention, or add shards with VERDICT_SHARDS.`;
      }
    },
    ended: (about, { what }) =>
      what === 'access-rules'
        ? `${about} has room for access rules again.`
        : `The log shards of ${about} have room again.`,
  },
  /** An origin does not respond, or responds with errors of its own. */
  'origin-failing': {
    title: 'The origin fails',
    begun: (about, facts) =>
      `${originOf(about, facts)} failed ${count(facts['failed'])} of the last ${count(facts['requests'])} requests ` +
      `(${percent(facts['share'])}): no response, or a status of 500 and above.`,
    ended: (about, facts) => `${originOf(about, facts)} responds again.`,
  },
  /** What "send a test" sends. */
  test: {
    title: 'A test',
    begun: (about) => `This is a test of the channel ${about}. Nothing happened.`,
    ended: neverEnds,
  },
};

function mode({ attackMode }: AlertFacts): string {
  return attackMode === 'on' ? 'on.' : 'off.';
}

/** Only those that the policies name have a name. */
function originOf(about: string, { origin }: AlertFacts): string {
  return origin === undefined ? `The origin of ${about}` : `The origin ${origin} of ${about}`;
}

/** No name of a visitor or an operator is in it. */
export function titleOf({ kind, phase }: Pick<Alert, 'kind' | 'phase'>): string {
  const { title } = kindWords[kind];
  return phase === 'ends' ? `Over: ${title}` : title;
}

/** `about`: the name of the instance, or of the key. */
export function summaryOf({ kind, phase, facts }: Pick<Alert, 'kind' | 'phase' | 'facts'>, about: string): string {
  const words = kindWords[kind];
  return phase === 'ends' ? words.ended(about, facts) : words.begun(about, facts);
}
