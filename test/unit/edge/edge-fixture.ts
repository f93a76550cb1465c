/** A compiled config, signals and a passage for the edge's unit tests. */
import { compileConfig } from '../../../src/edge/feed/compiled-config.ts';
import type { CompiledConfig } from '../../../src/edge/feed/compiled-config.ts';
import type { EdgeConfig } from '../../../src/contract/edge/edge-api.ts';
import { instancePolicy } from '../../../src/contract/management/instance.ts';
import { canonicalTarget } from '../../../src/edge/request/canonical-path.ts';
import { beginPassage } from '../../../src/edge/request/passage.ts';
import type { Passage } from '../../../src/edge/request/passage.ts';
import type { Signals } from '../../../src/edge/request/signals.ts';

export const NOW_MS = 1_800_000_000_000;
const key = (fill: number) => Buffer.alloc(32, fill).toString('base64url');
const keySet = (kid: string, fill: number) => ({
  kid,
  clearance: key(fill),
  session: key(fill + 1),
  seal: key(fill + 2),
  originSignature: key(fill + 3),
});

export function edgeConfigOf(policy: object = {}, changes: Partial<EdgeConfig> = {}): EdgeConfig {
  return {
    configVersion: 'c1',
    instanceId: 'inst_1',
    policy: instancePolicy.parse(policy),
    siteKey: 'site_1',
    secretKey: 'secret_1',
    keys: { current: keySet('k2', 10), previous: keySet('k1', 1) },
    rulesetKeys: [{ kid: 'r1', publicKey: key(9) }],
    raisedJtis: [],
    ...changes,
  };
}

export function configOf(policy: object = {}, changes: Partial<EdgeConfig> = {}): Promise<CompiledConfig> {
  return compileConfig(edgeConfigOf(policy, changes));
}

export function signalsOf(changes: Partial<Signals> = {}): Signals {
  return {
    ip: '192.0.2.1',
    asn: 64_496,
    countryCode: 'DE',
    ja4: null,
    userAgent: 'Mozilla/5.0',
    rolloutBucket: 0,
    deviceType: 'desktop',
    ipCategories: [],
    colo: 'local',
    ...changes,
  };
}

export async function passageOf(path: string, policy: object = {}, changes: Partial<Passage> = {}): Promise<Passage> {
  const url = `https://site.test${path}`;
  const config = await configOf(policy);
  const request = new Request(url);
  const target = canonicalTarget(url)!;
  const passage = beginPassage(request, target, NOW_MS);
  passage.config = config;
  passage.signals = signalsOf();
  passage.path = config.pathPolicy(target, request.method);
  return Object.assign(passage, changes);
}
