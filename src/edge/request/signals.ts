/**
 * The signals of one request, read once. Nothing a visitor can type becomes one: `CF-Connecting-IP` counts only beside
 * `request.cf`, which only the platform attaches, and `x-client-*` only beside the secret of the operator's own proxy.
 */
import type { DeviceType, IpCategory } from '../../contract/vocabulary.ts';
import { canonicalAsn } from '../../address/asn.ts';
import { canonicalCountry, type ReadIp, readIp } from '../../address/ip.ts';
import { canonicalJa4 } from '../../address/ja4.ts';
import { deviceType } from '../../address/device-type.ts';
import type { EdgeEnvironment } from '../environment.ts';
import { isSameSecret } from '../../bytes/same-secret.ts';
import type { HeaderFacts } from './header-facts.ts';
import type { IpCategories } from './ip-categories.ts';
import { rolloutBucket } from '../../rules/decision-table.ts';
import type { SignalFacts } from '../../decide/visitor-facts.ts';

export interface Signals extends SignalFacts {
  deviceType: DeviceType;
  colo: string;
}

/** Facts of the network, from the source that counts. */
interface NetworkFacts {
  address: ReadIp | null;
  asn: number | null;
  country: string | null;
  ja4: string | null;
  userAgent?: string | null;
  isAddressUnread?: boolean;
}

const NOTHING_KNOWN: NetworkFacts = { address: null, asn: null, country: null, ja4: null };

interface CloudflareFacts {
  asn?: number;
  country?: string;
  colo?: string;
  /** The socket's address and port, from workerd itself; absent on Cloudflare. */
  clientIp?: string;
  botManagement?: { ja4?: string };
}

export function readSignals(
  headers: HeaderFacts,
  platform: Request['cf'],
  source: EdgeEnvironment['signals'],
  categories: IpCategories,
): Signals {
  const cf = platform as CloudflareFacts | undefined;
  const facts = source.kind === 'headers' ? signedFacts(headers, source.secret, cf) : platformFacts(headers, cf);
  return new ReadSignals(headers, facts, cf?.colo ?? 'local', categories);
}

/** A class, because an accessor in an object literal makes a hidden class of its own for every request. */
class ReadSignals implements Signals {
  readonly ip: string | null;
  /** Handed over to rules, which would parse the text again. */
  readonly parsedIp: ReadIp['parsed'] | null;
  readonly asn: number | null;
  readonly countryCode: string | null;
  readonly ja4: string | null;
  readonly userAgent: string;
  readonly deviceType: DeviceType;
  readonly ipCategories: readonly IpCategory[];
  readonly colo: string;
  readonly isAddressUnread: boolean;

  constructor(headers: HeaderFacts, facts: NetworkFacts, colo: string, categories: IpCategories) {
    const userAgent = facts.userAgent ?? headers.userAgent;
    const { address, asn, country, ja4, isAddressUnread = false } = facts;
    const ip = address?.text ?? null;
    this.ip = ip;
    this.parsedIp = address?.parsed ?? null;
    this.asn = asn;
    this.countryCode = country;
    this.ja4 = ja4;
    this.userAgent = userAgent;
    this.deviceType = deviceType(userAgent, headers.uaMobile);
    this.ipCategories = categories.of(ip, asn, country);
    this.colo = colo;
    this.isAddressUnread = isAddressUnread;
  }

  /**
   * From the address and the user agent, so that a visitor without cookies stays on one side of a rollout. Hashed only
   * where a rule or an instance has a rollout.
   */
  get rolloutBucket(): number {
    return rolloutBucket(this.ip + '\n' + this.userAgent);
  }
}

/** Only Cloudflare's network attaches a `colo`. On a bare workerd the visitor writes `CF-Connecting-IP`. */
function platformFacts(headers: HeaderFacts, cf: CloudflareFacts | undefined): NetworkFacts {
  if (cf?.colo === undefined) return socketFacts(cf);
  return {
    address: readIp(headers.connectingIp),
    asn: typeof cf.asn === 'number' && cf.asn > 0 ? cf.asn : null,
    country: canonicalCountry(cf.country ?? null),
    ja4: canonicalJa4(cf.botManagement?.ja4 ?? null),
  };
}

function signedFacts(headers: HeaderFacts, secret: string, cf: CloudflareFacts | undefined): NetworkFacts {
  const given = headers.signalsSecret;
  if (given === null || !isSameSecret(given, secret)) return socketFacts(cf);
  const address = readIp(headers.clientIp);
  return {
    address,
    isAddressUnread: address === null && headers.clientIp !== null,
    asn: canonicalAsn(headers.clientAsn),
    country: canonicalCountry(headers.clientCountry),
    ja4: canonicalJa4(headers.clientJa4),
    userAgent: headers.clientUserAgent,
  };
}

/** A request that came past the operator's proxy has only the socket's address, where the runtime shows it. */
function socketFacts(cf: CloudflareFacts | undefined): NetworkFacts {
  if (cf?.colo !== undefined || cf?.clientIp === undefined) return NOTHING_KNOWN;
  const address = /^\[?([^\]]+?)\]?:\d+$/.exec(cf.clientIp)?.[1] ?? cf.clientIp;
  return { ...NOTHING_KNOWN, address: readIp(address) };
}
