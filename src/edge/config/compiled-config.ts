/**
 * The edge config made ready for requests: keys imported, path policy compiled, raised scores indexed. Compiled once
 * per config version; a request only reads it.
 */
import { namedBehaviours } from '../../contract/vocabulary.ts';
import { decodeBase64url } from '../../bytes/base64url.ts';
import type { BotPolicy } from '../../contract/management/bot-policy.ts';
import { botPolicyDefault } from '../../contract/management/bot-policy-default.ts';
import type { EdgeConfig, EdgeKeySet, SiteDemand } from '../../contract/edge/edge-responses.ts';
import type { InstancePolicy } from '../../contract/management/instance-policy.ts';
import type { OriginForm } from '../../contract/management/policy-set/policy-set-form.ts';
import { HmacSha256 } from '../../bytes/hmac-sha256.ts';
import { parseCidr } from '../../address/ip.ts';
import { PrefixMap } from '../../address/prefix-table.ts';
import { contentUsage } from '../../bots/robots/content-notes.ts';
import { compileLimits, type CompiledLimits } from './compiled-limits.ts';
import { compilePolicies, type CompiledPolicies } from '../../policies/compile/compile-policies.ts';
import { compilePathPolicy, type PathPolicyFor } from '../../decide/path-policy.ts';
import { compileRequestRisk, type RequestRisk, type RiskReading } from '../../risk/headers/request-risk.ts';
import { importRulesetKeys, type RulesetKeys } from '../../rules/ruleset-files.ts';
import { type BotActionFor, compileBotPolicy } from '../../decide/bot-action.ts';

export interface ImportedKeys {
  kid: string;
  clearance: CryptoKey;
  session: CryptoKey;
  seal: CryptoKey;
  originSignature: HmacSha256;
  /** Signs page loads. Only edges read it, so it follows from the key of sessions. */
  pageLoad: HmacSha256;
  /** Signs whole addresses before they are counted, so that no count shows an address. */
  address: HmacSha256;
}

export interface CompiledConfig {
  /** `null`: the instance has none. */
  limits: CompiledLimits | null;
  configVersion: string;
  instanceId: string;
  siteKey: string;
  secretKey: string;
  site: SiteDemand;
  policy: InstancePolicy;
  /** Host names this instance serves, in lower case; `null` is any. */
  hosts: ReadonlySet<string> | null;
  pathPolicy: PathPolicyFor;
  policies: CompiledPolicies;
  /** Named by the instance. */
  origins: readonly OriginForm[];
  botAction: BotActionFor;
  /** Header of responses; empty for none. */
  contentUsage: string;
  keys: { current: ImportedKeys; byKid: ReadonlyMap<string, ImportedKeys> };
  /** Changes when any key does. Tokens verified under another epoch are verified again. */
  keyEpoch: string;
  sessionKeyOf: (kid: string) => CryptoKey | null;
  /** Style sheet of the gate's pages. */
  pageStyle: string;
  /** Names of the risk detectors, by bit position. */
  detectorNames: readonly string[];
  /** Whether the service takes page loads with session calls. */
  knowsPageLoads: boolean;
  requestRisk: RequestRisk;
  /** Whether a visitor's pages need neither session nor budget: their network is known for what it says it is. */
  isPendingExempt: (ip: string | null) => boolean;
  raisedScores: ReadonlyMap<string, RiskReading>;
  withdrawnJtis: ReadonlySet<string>;
  rulesetKeys: RulesetKeys;
  /** Whether the log takes `inputs` in verdict records. */
  takesInputs: boolean;
}

export async function compileConfig(config: EdgeConfig): Promise<CompiledConfig> {
  const current = await importKeys(config.keys.current);
  const byKid = new Map([[current.kid, current]]);
  if (config.keys.previous) byKid.set(config.keys.previous.kid, await importKeys(config.keys.previous));
  return {
    configVersion: config.configVersion,
    instanceId: config.instanceId,
    siteKey: config.siteKey,
    secretKey: config.secretKey,
    site: config.site,
    policy: config.policy,
    hosts: config.policy.hosts.length > 0 ? new Set(config.policy.hosts.map((host) => host.toLowerCase())) : null,
    pathPolicy: compilePathPolicy(config.policy),
    policies: compilePolicies(
      config.policySet?.policies ?? [],
      new Set(config.policySet?.limits.map(({ name }) => name)),
    ),
    origins: config.policySet?.origins ?? [],
    contentUsage: isUsageChosen(config.policy.botPolicy) ? contentUsage(config.policy.botPolicy) : '',
    botAction: compileBotPolicy(config.policy.botPolicy),
    keys: { current, byKid },
    keyEpoch: [...byKid.keys()].join(' '),
    sessionKeyOf: (kid) => byKid.get(kid)?.session ?? null,
    pageStyle: config.pageStyle,
    detectorNames: config.detectors,
    knowsPageLoads: config.detectors.includes('no-page-load'),
    requestRisk: compileRequestRisk(config.detectors, config.detectorWeights),
    isPendingExempt: networkTest(config.pendingExempt),
    raisedScores: new Map(config.raisedJtis.map(({ jti, score, detectors = 0 }) => [jti, { score, detectors }])),
    withdrawnJtis: new Set(config.withdrawnJtis ?? []),
    rulesetKeys: await importRulesetKeys(config.rulesetKeys),
    takesInputs: config.takesInputs,
    limits: limitsOf(config),
  };
}

/** Nobody's responses say what nobody has decided: the default policy is not what an operator chose. */
function isUsageChosen({ preset, behaviours, robots }: BotPolicy): boolean {
  return (
    robots.serve &&
    (preset !== botPolicyDefault.preset || namedBehaviours.some((name) => behaviours[name] !== undefined))
  );
}

/** Under a key that stays: a limit of a day does not begin again with the keys of another week. */
function limitsOf({ policySet, limitKey }: EdgeConfig): CompiledLimits | null {
  if (!policySet || policySet.limits.length === 0 || limitKey === undefined) return null;
  return compileLimits(policySet.limits, new HmacSha256(keyBytes(limitKey)));
}

function networkTest(networks: readonly string[]): (ip: string | null) => boolean {
  if (networks.length === 0) return () => false;
  const prefixes = networks.map(parseCidr).filter((prefix) => prefix !== null);
  const lookup = new PrefixMap(prefixes.map((prefix) => [prefix, true] as const));
  return (ip) => ip !== null && lookup.longest(ip) === true;
}

async function importKeys(keys: EdgeKeySet): Promise<ImportedKeys> {
  return {
    kid: keys.kid,
    clearance: await hmacKey(keys.clearance),
    session: await hmacKey(keys.session),
    seal: await crypto.subtle.importKey('raw', keyBytes(keys.seal), { name: 'AES-GCM' }, false, ['encrypt', 'decrypt']),
    originSignature: new HmacSha256(keyBytes(keys.originSignature)),
    pageLoad: new HmacSha256(new HmacSha256(keyBytes(keys.session)).sign('page-load')),
    address: new HmacSha256(new HmacSha256(keyBytes(keys.session)).sign('address')),
  };
}

function hmacKey(text: string): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', keyBytes(text), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

/** The config's schema allows only 32 bytes in base64url. */
function keyBytes(text: string): Uint8Array<ArrayBuffer> {
  return decodeBase64url(text) ?? new Uint8Array(0);
}
