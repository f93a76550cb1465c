/**
 * Pins Durable Objects to the deployment's jurisdiction (`JURISDICTION`), where their data is stored and their code
 * runs. Every caller must pin in the same way: one name is a different object in each jurisdiction.
 */
export function inJurisdiction<T extends { jurisdiction(jurisdiction: DurableObjectJurisdiction): T }>(
  namespace: T,
  jurisdiction: string | undefined,
): T {
  return jurisdiction === 'eu' || jurisdiction === 'us' ? namespace.jurisdiction(jurisdiction) : namespace;
}
