/**
 * The credentials of an edge that compiles another service's rules itself: an API key, the site's key and secret, and KV to
 * keep the result in.
 */
import type { EnvironmentReader, RulesSource } from '../environment.ts';

export function readManagementRules({ text, binding, wrong, sinks }: EnvironmentReader): RulesSource | undefined {
  if (sinks.includes('service')) wrong('LOG_SINKS cannot name service when RULES_SOURCE is management-api');
  const [apiKey, siteKey, siteSecret] = [text('API_KEY'), text('SITE_KEY'), text('SITE_SECRET')];
  if (!binding('GATE_KV')) wrong('RULES_SOURCE management-api needs the binding GATE_KV');
  if (!apiKey || !siteKey || !siteSecret) {
    return wrong('RULES_SOURCE management-api needs API_KEY, SITE_KEY and SITE_SECRET');
  }
  return { kind: 'management-api', apiKey, siteKey, siteSecret };
}
