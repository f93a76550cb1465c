/** Names of compiled bases in the R2 bucket `RULESETS`. */

export function rulesetFolder(instanceId: string): string {
  return `rulesets/${instanceId}/`;
}

export function rulesetKey(instanceId: string, hash: string): string {
  return rulesetFolder(instanceId) + hash;
}
