/**
 * Collects the environment report, which travels with the opening of a session. What it takes is loaded only then.
 * Rejects when that cannot be loaded: without a report no session is opened.
 */
import type { EnvironmentReport } from '../../contract/edge/environment-report.ts';
import type { Collect } from '../environment.ts';
import { loadAsset } from '../loading/asset-loader.ts';
import { assetUrl } from '../loading/asset-url.ts';
import type { ScriptLocation } from '../loading/script-location.ts';

export async function collectEnvironment(script: ScriptLocation): Promise<EnvironmentReport> {
  const collect = await loadAsset<Collect>(script, 'environment');
  return collect(assetUrl(script.base, 'environment'));
}
