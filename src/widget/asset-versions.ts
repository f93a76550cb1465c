/**
 * Content hashes of the scripts that other scripts load, filled in by `scripts/build-client.ts`, so
 * that a cached widget never runs with a worker of another release.
 */
declare const GATEHOUSE_ASSET_VERSIONS: Record<string, string> | undefined;

export function assetFile(name: string): string {
  const versions = typeof GATEHOUSE_ASSET_VERSIONS === 'undefined' ? {} : GATEHOUSE_ASSET_VERSIONS;
  return `${name}.js?v=${versions[name] ?? ''}`;
}
