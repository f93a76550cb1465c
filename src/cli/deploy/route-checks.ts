/**
 * Which routes of a zone stand in the way of a gate or of the service. The platform runs one Worker for
 * a request: that of the most specific pattern. So a new route may silently end a Worker, or a longer one the gate.
 */
import { OperatorError } from '../operator-error.ts';
import { type Route, routePattern } from './zone.ts';

/**
 * @throws OperatorError when another Worker has the gate's route, or loses the site's requests to a new gate.
 * @returns warnings about the routes that may lead past the gate.
 */
export function checkRoute(routes: readonly Route[], host: string, edge: string): string[] {
  const hasGate = routes.some(({ pattern, script }) => pattern === routePattern(host) && script === edge);
  const warnings: string[] = [];
  for (const route of routes.filter(({ pattern, script }) => script !== edge && covers(pattern, host))) {
    const { scheme, hostPart, path } = partsOf(route.pattern);
    if (hostPart === host && path === '/*')
      throw new OperatorError(
        `The route ${route.pattern} belongs to ${owner(route)}${scheme === '' ? '' : ", and it is more specific than the gate's"}. Remove that route in the dashboard (Workers Routes of the zone), and run the command again.`,
      );
    if (hostPart === host)
      warnings.push(
        `The route ${route.pattern} ${ofWorker(route)} is longer than the gate's, so its requests do not pass the gate.`,
      );
    else if (route.script && !hasGate)
      throw new OperatorError(
        `The route ${route.pattern} brings requests for ${host} to the Worker ${route.script}, and the gate would take its place. Give that Worker a route without ${host} in the dashboard (Workers Routes of the zone), and run the command again.`,
      );
    else if (path !== '/*')
      warnings.push(`The route ${route.pattern} ${ofWorker(route)} may be preferred to the gate's for its requests.`);
  }
  return warnings;
}

/**
 * A route comes before a custom domain, so it may hide the service.
 * @throws OperatorError unless the service runs already: then it is a warning.
 */
export function checkServiceRoute(routes: readonly Route[], host: string, service: string, runs: boolean): string[] {
  const hiding = routes.filter(({ pattern, script }) => script !== service && covers(pattern, host));
  if (hiding[0] !== undefined && !runs)
    throw new OperatorError(
      `The route ${hiding[0].pattern} of the zone belongs to ${owner(hiding[0])}, and it covers ${host}, where the service would run. Choose another host with --service-host, or remove that route in the dashboard.`,
    );
  return hiding.map(
    (route) => `The route ${route.pattern} ${ofWorker(route)} covers ${host} and may hide the service.`,
  );
}

const owner = ({ script }: Route): string => (script ? `the Worker ${script}` : 'no Worker, which exempts it');
const ofWorker = ({ script }: Route): string => (script ? `of the Worker ${script}` : 'without a Worker');

function partsOf(pattern: string): { scheme: string; hostPart: string; path: string } {
  const [, scheme = '', rest = ''] = /^([a-z*]+:\/\/)?(.*)$/is.exec(pattern) ?? [];
  const slash = rest.indexOf('/');
  const hostPart = (slash < 0 ? rest : rest.slice(0, slash)).toLowerCase();
  // Without a path, a star at the end of the host stands for every path too.
  return { scheme, hostPart, path: slash >= 0 ? rest.slice(slash) : hostPart.endsWith('*') ? '/*' : '/' };
}

/** Whether some request for the host matches. A pattern has stars only at its beginning and its end. */
function covers(pattern: string, host: string): boolean {
  const { hostPart } = partsOf(pattern);
  const hasBefore = hostPart.startsWith('*');
  const hasAfter = hostPart.endsWith('*');
  const fixed = hostPart.replace(/^\*/, '').replace(/\*$/, '');
  if (hasBefore && hasAfter) return host.includes(fixed);
  if (hasBefore) return host.endsWith(fixed);
  return hasAfter ? host.startsWith(fixed) : host === fixed;
}
