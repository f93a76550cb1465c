/**
 * Pins Durable Objects to the deployment's jurisdiction (`JURISDICTION`): their data is stored and their code runs only
 * there. Every caller must pin in the same way, because a name belongs to another object in each jurisdiction.
 */
export function inJurisdiction<T extends { jurisdiction(jurisdiction: DurableObjectJurisdiction): T }>(
  namespace: T,
  jurisdiction: string | undefined,
): T {
  return jurisdiction === 'eu' || jurisdiction === 'us' ? namespace.jurisdiction(jurisdiction) : namespace;
}
