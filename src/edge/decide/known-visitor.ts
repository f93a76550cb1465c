/**
 * What the gate knows of who asks: the bot they are, their session and their clearance. From memory, except where a
 * signature is seen for the first time, its nonce is spent, or a clearance is shown from the other address family.
 */
import type { WaitUntil } from '../../bytes/polled.ts';
import { type BotSignal, botSignal, proofOf, SUSPECTED_AGENT } from '../../bots/bot-proof.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { SessionReading, Sessions } from '../session/sessions.ts';
import type { ClearanceReading, Clearances } from '../session/clearances.ts';
import { DIRECTORY_PATH } from '../../bots/signatures/agent-address.ts';
import type { TableBot } from '../../bots/bot-table.ts';
import type { BotTable } from '../../bots/open-bot-table.ts';
import type { ProofMemory } from '../../bots/proof-memory.ts';
import type { SignatureOutcome } from '../../bots/signatures/signature-outcome.ts';
import { hasDetector, riskDetectors } from '../../contract/edge/risk-detectors.ts';
import type { BotProof } from '../../contract/vocabulary.ts';

export interface KnownVisitor {
  readonly bot: BotSignal | null;
  readonly session: SessionReading;
  readonly clearance: ClearanceReading | null;
}

export async function knownVisitor(
  facts: RequestFacts,
  config: CompiledConfig,
  { bots, sessions, clearances }: { bots: BotReader; sessions: Sessions; clearances: Clearances },
  waitUntil: WaitUntil,
): Promise<KnownVisitor> {
  const { headers, signals, nowMs } = facts;
  const spendsNonces = config.policy.botPolicy.signatures.nonce === 'once';
  const session = await sessions.read(headers.cookie, config, signals, nowMs);
  return {
    bot: (await bots.read(facts, waitUntil, spendsNonces)) ?? (isSuspected(session) ? SUSPECTED_AGENT : null),
    session,
    clearance: await clearances.read(facts, config),
  };
}

const SUSPECTED_PLACE = riskDetectors.indexOf('suspected-agent');

function isSuspected({ detectors }: SessionReading): boolean {
  return detectors !== 0 && hasDetector(detectors, SUSPECTED_PLACE);
}

/** As long as a verdict record takes it. */
const BOT_ID_MAX_CHARS = 128;
const UNSIGNED: SignatureOutcome = { outcome: 'none' };

/**
 * Who a request says it is, and whether that is so: the name in its user agent, the networks of the bot's operator, and
 * what the service found out about its address and its keys. What is not in memory is asked for behind the response, and
 * until then a name is `claimed`.
 */
export class KnownBots implements BotReader {
  readonly #table: () => BotTable | null;
  readonly #proofs: ProofMemory;

  constructor(table: () => BotTable | null, proofs: ProofMemory) {
    this.#table = table;
    this.#proofs = proofs;
  }

  read(facts: RequestFacts, waitUntil: WaitUntil, spendsNonces: boolean): BotSignal | null | Promise<BotSignal | null> {
    const table = this.#table();
    if (table === null) return null;
    const { request, nowMs } = facts;
    if (!facts.headers.signatureInput) return this.#signal(table, facts, UNSIGNED, waitUntil);
    const { method, url, headers } = request;
    const checked = this.#proofs.signature({ method, url, headers }, nowMs, waitUntil);
    const found = spendsNonces ? this.#proofs.once(checked) : checked;
    return found instanceof Promise
      ? found.then((outcome) => this.#signal(table, facts, outcome, waitUntil))
      : this.#signal(table, facts, found, waitUntil);
  }

  #signal(table: BotTable, facts: RequestFacts, signed: SignatureOutcome, waitUntil: WaitUntil): BotSignal | null {
    const named = table.identify(facts.signals.userAgent);
    if (signed.outcome === 'verified') {
      const agent = signer(table, signed.agent, named);
      const { id, behaviours } = agent ?? { id: idOf(signed.agent), behaviours: ['agent'] as const };
      return { id, behaviours, proof: 'signature' };
    }
    // Until its keys are known, an agent that only its signature names is claimed.
    const asked = signed.outcome === 'unverified' ? signed.missing : null;
    const bot = named ?? (asked && signer(table, asked.agent, null));
    return bot && botSignal(bot, this.#proof(table, bot, facts, signed, waitUntil));
  }

  #proof(
    table: BotTable,
    bot: TableBot,
    { signals: { ip }, nowMs }: RequestFacts,
    signed: SignatureOutcome,
    waitUntil: WaitUntil,
  ): BotProof {
    const range = table.rangeAnswer(bot, ip);
    const asksName = bot.hasDns && range !== 'holds';
    const name = ip === null ? null : asksName && this.#proofs.name(bot.id, ip, nowMs, waitUntil);
    return proofOf(bot, range, name, signed.outcome === 'unverified');
  }
}

/** Who signs as this agent. Several bots can have the same keys: the one that the user agent names, or the first. */
function signer(table: BotTable, agent: string, named: TableBot | null): TableBot | null {
  const address = addressOf(agent);
  return named?.agents.includes(address) ? named : table.byAgent(address);
}

/** A key set at any other path can be somebody else's than the origin's, such as a file that a visitor uploaded. */
function addressOf(agent: string): string {
  const { origin } = new URL(agent);
  return agent === origin + DIRECTORY_PATH ? origin : agent;
}

/** The address without `https://`: a host only where the keys are the host's own. A policy names no id with a slash. */
function idOf(agent: string): string {
  const id = addressOf(agent).slice(8);
  return id.length > BOT_ID_MAX_CHARS ? `${id.slice(0, BOT_ID_MAX_CHARS - 1)}/` : id;
}

/** Where the bot of a request is known from. Nothing here waits for the network, except for a nonce that is spent. */
export interface BotReader {
  /** A promise only where a signature is checked for the first time, or where `spendsNonces` asks for its nonce. */
  read(facts: RequestFacts, waitUntil: WaitUntil, spendsNonces: boolean): BotSignal | null | Promise<BotSignal | null>;
}

/** Before the first table of bots is loaded. */
export const NO_BOTS: BotReader = { read: () => null };
