/**
 * What policies see of one request, as the edge reads it or as the log kept it. `null`: the request has no such thing.
 * `undefined`: nobody knows, as of the headers of a logged request.
 */
import type {
  AgentWord,
  BotBehaviour,
  BotProof,
  DeviceType,
  IpCategory,
  PathType,
  SessionStatus,
} from '../contract/vocabulary.ts';

export interface PolicyRequest {
  /** In lower case, without a port. */
  host: string;
  method: string;
  /** The canonical path first, then the other paths that an origin could read. `null`: it could be any path. */
  paths: readonly [string, ...string[]] | null;
  /** As received, with its `?`; or empty. */
  query: string | undefined;
  /** Values by name in lower case. */
  headers: HeaderValues | undefined;
  /** The `Cookie` header as received. */
  cookie: string | null | undefined;
  /** Canonical, as are country and fingerprint. */
  ip: string | null;
  asn: number | null;
  country: string | null;
  ja4: string | null;
  /** Empty when there is none. */
  userAgent: string;
  deviceType: DeviceType;
  bot: { id: string; behaviours: readonly BotBehaviour[]; proof: BotProof } | null;
  /** Not a bot of that name: nobody named one. */
  agent: AgentWord | null;
  ipCategories: readonly IpCategory[];
  sessionStatus: SessionStatus;
  riskScore: number | null;
  pathType: PathType;
}

export interface HeaderValues {
  get(name: string): string | null;
  forEach(visit: (value: string, name: string) => void): void;
}

/** Policies tell bots that name themselves from visitors who are suspected, so that `bot exists` means the former alone. */
export function botAndAgent(bot: PolicyRequest['bot']): Pick<PolicyRequest, 'bot' | 'agent'> {
  return bot?.proof === 'suspected' ? { bot: null, agent: 'suspected' } : { bot, agent: null };
}
