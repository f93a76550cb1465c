/**
 * Everything that an edge needs to know about its instance, as one document. `configVersion` is a hash of the content:
 * equal content has an equal version in every isolate, and the new keys of a week are a new version. The lists of raised
 * and withdrawn sessions count with their own version number, so that the poll of an edge does not read them.
 */
import { currentPolicy } from '../../attack/attack-state.ts';
import { encodeBase64url } from '../../bytes/base64url.ts';
import { siteDemandOf } from '../../captcha/plan/choose-challenge.ts';
import type { EdgeConfig } from '../../contract/edge/edge-responses.ts';
import { namedOrigins } from '../../policies/diff.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import { listBook } from '../../store/risk-book/client/session-books.ts';
import { signingKey, verificationKeys } from '../../store/keys/signing-keys.ts';
import { policySetOf } from '../../store/d1/policy-sets.ts';
import { siteByKey } from '../../store/d1/sites.ts';
import { pageStyle } from '../../branding/page-style.ts';
import { configFormats } from '../../contract/edge/formats.ts';
import { riskDetectors } from '../../contract/edge/risk-detectors.ts';
import { sessionWeight } from '../../risk/detectors.ts';
import { edgeKeySets, limitKeyOf } from '../../store/keys/edge-keys.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import type { ServiceStore } from '../environment.ts';

/** As many as the edge accepts. No live ruleset is signed with an older key. */
const RULESET_KEYS_MAX = 8;
/** 128 bits of the hash. */
const VERSION_HEX_CHARS = 32;

/** What `configVersion` hashes, apart from the versions of the lists and of the policy set. */
type Lasting = Omit<EdgeConfig, 'configVersion' | 'policySet' | 'raisedJtis' | 'withdrawnJtis'>;

/** `format`: one of `configFormats`. The one before the newest is made here from the newest. */
export async function edgeConfigFor(
  store: ServiceStore,
  instance: StoredInstance,
  nowMs: number,
  format: string = configFormats[0],
): Promise<EdgeConfig> {
  const [lasting, lists, policySet] = await Promise.all([
    lastingConfig(store, instance, nowMs, format),
    listBook(store, instance.id).lists(nowMs),
    policySetFor(store, instance),
  ]);
  const configVersion = await versionOf(lasting, lists.version, instance.policyVersion);
  return { configVersion, ...lasting, ...policySet, raisedJtis: lists.raised, withdrawnJtis: lists.withdrawn };
}

export async function configVersionFor(
  store: ServiceStore,
  instance: StoredInstance,
  nowMs: number,
  format: string = configFormats[0],
): Promise<string> {
  const [lasting, listVersion] = await Promise.all([
    lastingConfig(store, instance, nowMs, format),
    listBook(store, instance.id).listVersion(),
  ]);
  return versionOf(lasting, listVersion, instance.policyVersion);
}

async function versionOf(lasting: Lasting, listVersion: number, policyVersion: number): Promise<string> {
  return (await sha256Hex(JSON.stringify({ lasting, listVersion, policyVersion }))).slice(0, VERSION_HEX_CHARS);
}

/** Nothing where the instance never had any. Throws for a version that is gone: an edge keeps what it has loaded. */
async function policySetFor(
  store: ServiceStore,
  { id, policyVersion: version }: StoredInstance,
): Promise<Pick<EdgeConfig, 'policySet'>> {
  if (version === 0) return {};
  const set = await policySetOf(store, id, version);
  if (set === null) throw new Error(`Version ${version} of the policies of ${id} is not stored`);
  const { policies, limits, origins } = set;
  return { policySet: { version, policies, limits, origins: namedOrigins(origins) } };
}

async function lastingConfig(
  store: ServiceStore,
  instance: StoredInstance,
  nowMs: number,
  format: string,
): Promise<Lasting> {
  const [site, keys, limitKey] = await Promise.all([
    siteByKey(store, instance.globalSiteKey),
    rootKey(store).then((root) => edgeKeySets(root, instance.id, nowMs)),
    rootKey(store).then((root) => limitKeyOf(root, instance.id)),
    // Makes the first key, so that an edge never starts without a key to check rulesets with.
    signingKey(store, 'ruleset', nowMs),
  ]);
  if (!site) throw new Error(`Instance ${instance.id} names a site that does not exist`);
  const rulesetKeys = await verificationKeys(store, 'ruleset', nowMs);
  return {
    format,
    instanceId: instance.id,
    policy: currentPolicy(instance, nowMs),
    siteKey: site.siteKey,
    secretKey: site.secretKey,
    site: siteDemandOf(site.settings),
    keys,
    limitKey,
    pageStyle: pageStyle(instance.branding),
    detectors: [...riskDetectors],
    detectorWeights: riskDetectors.map((name) => (instance.ignoredDetectors.includes(name) ? 0 : sessionWeight(name))),
    pendingExempt: [],
    takesInputs: true,
    rulesetKeys: rulesetKeys
      .slice(0, RULESET_KEYS_MAX)
      .map((key) => ({ kid: key.kid, publicKey: encodeBase64url(key.publicKeyRaw) })),
  };
}
