/**
 * Rules from any service that implements the documented interface: the scheduled run reads `POST /protect/access-rules` and
 * the instance with an API key, compiles them here and writes KV; isolates read what it wrote. Keys come from the edge's
 * own credentials by HKDF, so that no other endpoint is needed.
 */
import { encodeUtf8, type Bytes } from '../../bytes/utf8.ts';
import { pageStyle } from '../../branding/page-style.ts';
import { type EdgeConfig, type EdgeKeySet, type EdgeVersion, unknownSite } from '../../contract/edge/edge-responses.ts';
import { configFormats } from '../../contract/edge/formats.ts';
import { writtenPolicy } from '../../contract/management/instance-settings.ts';
import type { InstancePolicy } from '../../contract/management/instance-policy.ts';
import { decisions, edgeRuleTypes } from '../../contract/vocabulary.ts';
import { canonicalValue } from '../../rules/canonical.ts';
import { RulesetCompiler } from '../../rules/compiler.ts';
import { rulesetHash, signRulesetFile } from '../../rules/signing.ts';
import type { EdgeRule } from '../../rules/types.ts';
import { decodePointer, derivedBytes, encodePointer, openConfig, partName, type ConfigSeal } from './stored-parts.ts';
import type { KvStore } from './part-stores.ts';
import { failed, ok } from '../../result.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import { ABSENT, UNREADABLE, type Asked, type Count, type SentConfig, type Upstream, valueOrNull } from './upstream.ts';
import { encodeBase64url } from '../../bytes/base64url.ts';

/** As many as a scheduled run compiles within its CPU time. */
const RULES_MAX = 100_000;
const ANSWER_MAX_BYTES = 32 * 1024 * 1024;
const CALL_TIMEOUT_MS = 20_000;

export interface ManagementApi {
  serviceUrl: string;
  apiKey: string;
  siteKey: string;
  siteSecret: string;
  kv: KvStore;
  seal: ConfigSeal;
  count: Count;
  fetch(request: Request): Promise<Response>;
}

/** What isolates load: KV as the scheduled run left it. */
export class KvUpstream implements Upstream {
  readonly #kv: KvStore;
  readonly #seal: ConfigSeal;

  constructor(kv: KvStore, seal: ConfigSeal) {
    this.#kv = kv;
    this.#seal = seal;
  }

  async version(): Promise<Asked<EdgeVersion>> {
    return decodePointer(await this.#kv.get(partName.pointer));
  }

  async config(): Promise<Asked<SentConfig>> {
    const version = await this.version();
    if (!version.ok) return version;
    return openConfig(await this.#kv.get(partName.config(version.value.configVersion)), this.#seal);
  }

  async base(hash: string): Promise<Asked<Bytes>> {
    const file = await this.#kv.get(partName.base(hash));
    return file ? ok(file) : ABSENT;
  }

  /** Every change of such a service is compiled into a base. */
  delta(): Promise<Asked<Bytes>> {
    return Promise.resolve(ABSENT);
  }
}

/** One scheduled run. True when KV holds the service's current state. Writes only what changed. */
export async function syncFromManagementApi(api: ManagementApi): Promise<boolean> {
  const listed = await call(api, '/protect/access-rules', { siteKey: api.siteKey });
  const instances = await call(api, '/protect/instances', {});
  if (!listed.ok || !instances.ok) return false;
  const rules = rulesOf(listed.value, api.count);
  const keys = await deriveKeys(api.apiKey, api.siteKey);
  const stored = valueOrNull(decodePointer(await api.kv.get(partName.pointer)));

  // A changed base is compiled twice: the first time under the old version, to see whether it changed.
  let version = stored?.base.version ?? 0;
  let payload = compile(rules, api.siteKey, version);
  let hash = await rulesetHash(payload);
  if (hash !== stored?.base.hash) {
    payload = compile(rules, api.siteKey, ++version);
    hash = await rulesetHash(payload);
    const { file } = await signRulesetFile(payload, { kid: keys.rulesetKid, privateKey: keys.rulesetKey });
    if (!(await api.kv.put(partName.base(hash), new Uint8Array(file)))) return false;
  }

  // Sessions belong to a Gatehouse service; another service's cannot be read here.
  const policy = { ...policyOf(instances.value, api.siteKey), sessionsEnabled: false };
  const config: Omit<EdgeConfig, 'configVersion'> = {
    format: configFormats[0],
    instanceId: api.siteKey,
    policy,
    siteKey: api.siteKey,
    secretKey: api.siteSecret,
    // The documented interface has no settings in a form that every service shares.
    site: unknownSite,
    keys: { current: keys.edge, previous: null },
    rulesetKeys: [{ kid: keys.rulesetKid, publicKey: keys.rulesetPublicKey }],
    pageStyle: pageStyle(policy.branding),
    detectors: [],
    detectorWeights: [],
    pendingExempt: [],
    takesInputs: false,
    raisedJtis: [],
  };
  const configVersion = (await rulesetHash(new TextEncoder().encode(JSON.stringify(config)))).slice(0, 32);
  if (hash === stored?.base.hash && configVersion === stored.configVersion) return true;
  if (configVersion !== stored?.configVersion) {
    const sealed = await api.seal.seal(encodeUtf8(JSON.stringify({ ...config, configVersion })));
    if (!(await api.kv.put(partName.config(configVersion), sealed))) return false;
  }
  const pointer = encodePointer({ configVersion, base: { hash, version }, delta: { version } });
  if (!(await api.kv.put(partName.pointer, pointer))) return false;
  if (stored && stored.base.hash !== hash) await api.kv.delete(partName.base(stored.base.hash));
  if (stored && stored.configVersion !== configVersion) await api.kv.delete(partName.config(stored.configVersion));
  return true;
}

function compile(rules: readonly EdgeRule[], instanceId: string, version: number): Uint8Array {
  const compiler = new RulesetCompiler({ instanceId, version, createdAtMs: 0 });
  for (const rule of rules) compiler.add(rule);
  return compiler.finish();
}

/** A list, or an object with a list of that name: the interface leaves the shape open. */
function listIn(answer: unknown, name: string): unknown[] {
  const list = Array.isArray(answer) ? answer : (answer as Record<string, unknown>)[name];
  return Array.isArray(list) ? list : [];
}

function rulesOf(answer: unknown, count: Count): EdgeRule[] {
  const rules = new Map<string, EdgeRule>();
  for (const item of listIn(answer, 'rules').slice(0, RULES_MAX)) {
    const { type, value, verdict } = item as Record<string, unknown>;
    const knownType = edgeRuleTypes.find((name) => name === type);
    const knownVerdict = decisions.find((name) => name === verdict);
    const spelled = typeof value === 'string' || typeof value === 'number' ? value : null;
    const canonical = knownType && spelled !== null ? canonicalValue(knownType, spelled) : null;
    if (!knownType || !knownVerdict || !canonical?.ok) count('foreign_rules_skipped');
    else
      rules.set(`${knownType}:${canonical.value}`, { type: knownType, value: canonical.value, verdict: knownVerdict });
  }
  return [...rules.values()];
}

/** The fields this edge has a schema for and whose values fit it; defaults for the rest. */
function policyOf(answer: unknown, siteKey: string): InstancePolicy {
  const instance = listIn(answer, 'instances').find(
    (item) => (item as Record<string, unknown> | null)?.['globalSiteKey'] === siteKey,
  );
  const known: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(writtenPolicy.shape)) {
    const value = (instance as Record<string, unknown> | undefined)?.[name];
    if (value !== undefined && schema.safeParse(value).success) known[name] = value;
  }
  return writtenPolicy.parse(known);
}

async function call(api: ManagementApi, path: string, body: object): Promise<Asked<object>> {
  try {
    const response = await api.fetch(
      new Request(api.serviceUrl + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${api.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        redirect: 'manual',
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      }),
    );
    const bytes = response.status === 200 && response.body ? await readBounded(response.body, ANSWER_MAX_BYTES) : null;
    if (!bytes?.ok) throw new Error(`${path} answered ${response.status}`);
    const answer: unknown = JSON.parse(new TextDecoder().decode(bytes.value));
    return typeof answer === 'object' && answer !== null ? ok(answer) : UNREADABLE;
  } catch (error) {
    api.count('management_api_failures');
    console.error(JSON.stringify({ level: 'error', event: 'management-api-failed', path, message: String(error) }));
    return failed({ kind: 'unreachable' });
  }
}

/**
 * Every key an edge needs, from one credential by HKDF-SHA256, because such a service has no key endpoint. The same
 * credential gives the same keys in every isolate; a new one rotates them all.
 */
export interface DerivedKeys {
  edge: EdgeKeySet;
  rulesetKid: string;
  rulesetKey: CryptoKey;
  /** Raw 32 bytes, base64url. */
  rulesetPublicKey: string;
}

/** RFC 8410: what stands before the 32 bytes of an Ed25519 private key in PKCS #8. */
const PKCS8_HEAD = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
const KID = 'derived';

export async function deriveKeys(credential: string, scope: string): Promise<DerivedKeys> {
  const derive = (label: string) => derivedBytes(credential, scope, `gatehouse edge ${label} v1`);
  const text = async (label: string): Promise<string> => encodeBase64url(await derive(label));
  const pkcs8 = new Uint8Array([...PKCS8_HEAD, ...(await derive('ruleset'))]);
  const rulesetKey = await crypto.subtle.importKey('pkcs8', pkcs8, { name: 'Ed25519' }, true, ['sign']);
  const jwk = (await crypto.subtle.exportKey('jwk', rulesetKey)) as JsonWebKey;
  return {
    edge: {
      kid: KID,
      clearance: await text('clearance'),
      session: await text('session'),
      seal: await text('seal'),
      originSignature: await text('origin signature'),
    },
    rulesetKid: KID,
    rulesetKey,
    rulesetPublicKey: jwk.x ?? '',
  };
}
