/**
 * The way through without scripts: a sealed link that opens after some seconds and buys level 0. Offered only where the
 * site lets level 0 count and a rule or a path asked for the challenge: it never replaces a picture and never lets a
 * visitor at risk pass. Each network has a budget, counted by the service's ledger for all isolates and by this isolate whether
 * or not the ledger responds.
 */
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { demandAt } from '../../captcha/plan/demand.ts';
import { message, type Answer } from '../answer/answer.ts';
import type { WaitLink } from '../answer/pages/challenge-page.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { JudgedContext, RequestContext } from '../decide/context.ts';
import type { Verdict } from '../../decide/verdict.ts';
import { NetworkCounts } from '../../address/networks.ts';
import { ownReference } from '../../decide/request-target.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import type { RequestFacts } from '../request/facts.ts';
import { openJson, sealJson } from './sealed-box.ts';
import { clearanceCookie, newClearance, type Solved } from '../session/clearances.ts';
import { ownerOf } from '../session/visitor.ts';
import { answerWith, type Answered } from '../step/step.ts';

export const WAIT_SECONDS = 12;
const TICKET_SECONDS = 600;
/** A family without scripts. A farm gets this many per isolate and network. */
const WAITS_PER_WINDOW_MAX = 10;
const WINDOW_MS = 3_600_000;
/** Tickets this isolate remembers as taken. */
const TICKETS_MAX = 10_000;

interface Ticket {
  jti: string;
  owner: string;
  returnTo: string | null;
  /** Epoch milliseconds. */
  opensAt: number;
  closesAt: number;
}

/** In a frame that nobody sees. */
const CLEARED: Answer = { kind: 'text', status: 200, text: 'Cleared' };
const NOT_VALID = message('send-again', 'API.BAD_REQUEST', 'This link is no longer valid. Open the page again.');
const SCRIPT_NEEDED = message(
  'needs-script',
  'API.CHALLENGE_REQUIRED',
  'Waiting is not enough here. Turn on JavaScript.',
);
export const NO_COOKIE = message('cookies-off', 'API.FORBIDDEN', 'The browser did not keep the cookie.');

interface WaitLedger {
  service: Pick<ServiceClient, 'takeWait'>;
  count: (name: string) => void;
}

export class WaitLane {
  /** `null`: no ledger counts for other isolates. */
  readonly #ledger: WaitLedger | null;
  readonly #used = new NetworkCounts(WAITS_PER_WINDOW_MAX, WINDOW_MS);
  readonly #taken = new BoundedMap<true>(TICKETS_MAX);

  constructor(ledger: WaitLedger | null) {
    this.#ledger = ledger;
  }

  /**
   * The link for an interstitial, or `null` where this lane is not offered. `returnTo`: path and query to go on to, or
   * `null` for a frame that only gets clearance.
   */
  async link(context: JudgedContext, returnTo: string | null): Promise<WaitLink | null> {
    const { nowMs, requestId } = context.facts;
    if (!this.#isOffered(context)) return null;
    const ticket: Ticket = {
      jti: requestId,
      owner: await ownerOf(context.facts),
      returnTo,
      opensAt: nowMs + WAIT_SECONDS * 1000,
      closesAt: nowMs + TICKET_SECONDS * 1000,
    };
    const sealed = await sealJson(context.config.keys.current, 'wait', ticket);
    return { url: `/__protect/wait?ticket=${sealed}`, waitSeconds: WAIT_SECONDS + 1 };
  }

  /** `GET /__protect/wait`: once with the ticket, and once more to see that the browser kept the cookie. */
  async take(context: RequestContext): Promise<Answered> {
    const { config, facts, clearance } = context;
    const { target, nowMs } = facts;
    const query = new URLSearchParams(target.query);
    if (!config) return answerWith(context, NOT_VALID);
    const ticket = await openJson<Ticket>(config.keys.byKid, 'wait', query.get('ticket') ?? '');
    if (!ticket || nowMs > ticket.closesAt) return answerWith(context, NOT_VALID);
    if (ticket.owner !== (await ownerOf(facts))) return answerWith(context, NOT_VALID);
    if (query.has('kept')) {
      if (!clearance) return answerWith(context, NO_COOKIE);
      return answerWith(context, ticket.returnTo === null ? CLEARED : goOn(ticket.returnTo));
    }
    if (nowMs < ticket.opensAt) {
      // Too early: the same link again, later.
      return answerWith(context, goOn(`/__protect/wait${target.query}`, ticket.opensAt - nowMs));
    }
    // The risk, or the site's demand, may have risen since the link was made.
    if (!mayWait(context.verdict, config)) return answerWith(context, SCRIPT_NEEDED);
    if (this.#taken.get(ticket.jti)) return answerWith(context, NOT_VALID);
    this.#taken.set(ticket.jti, true);
    if (!(await this.#mayPass(facts, ticket.jti, ticket.opensAt - WAIT_SECONDS * 1000))) {
      return answerWith(context, NOT_VALID);
    }
    const solved: Solved = { jti: ticket.jti, level: 0, kind: 'pow', powDifficulty: 0, eased: false };
    const claims = await newClearance(config, facts, solved, clearance);
    const cookies = [...context.cookies, await clearanceCookie(claims, config, nowMs)];
    return answerWith({ ...context, cookies }, goOn(`/__protect/wait${target.query}&kept=1`), true);
  }

  #isOffered(context: JudgedContext): boolean {
    const { config, facts, verdict } = context;
    return mayWait(verdict, config) && this.#used.hasRoom(facts.signals.ip, facts.nowMs);
  }

  /** Within the isolate's budget and, where the ledger responds, within the ledger's, which is exact. */
  async #mayPass({ signals, nowMs }: RequestFacts, id: string, bornAt: number): Promise<boolean> {
    const { ip } = signals;
    if (!this.#used.take(ip, nowMs)) return false;
    if (this.#ledger === null || ip === null) return true;
    const { service, count } = this.#ledger;
    const taken = await service.takeWait({ id, bornAt, ip });
    if (!taken.ok) count('wait_ledger_failures');
    return !taken.ok || taken.value;
  }
}

function mayWait({ riskScore, source, levelWanted }: Verdict, { site, policy }: CompiledConfig): boolean {
  return source !== 'ip-category' && levelWanted === 0 && demandAt(site, policy, riskScore ?? 0).mayWait;
}

/** `target` is a path of this site that the edge sealed. */
function goOn(target: string, waitMs = 0): Answer {
  return { kind: 'redirect', location: ownReference(target), waitSeconds: Math.ceil(waitMs / 1000) };
}
