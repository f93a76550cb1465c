/** Collects the environment report, which travels with the opening of a session. Never rejects. */
import type { EnvironmentReport } from '../../contract/edge/environment-report.ts';
import { automationTraits } from './automation-traits.ts';

export async function collectEnvironment(): Promise<EnvironmentReport> {
  return { v: 1, traits: automationTraits() };
}
