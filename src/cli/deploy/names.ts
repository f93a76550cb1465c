/**
 * Names of what a deployment has on the platform. They follow from the deployment's name and the site's host alone, so
 * that a second run, or another machine, finds what the first one made.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { canonicalHostname } from '../../contract/management/site-domain.ts';
import { CommandError } from '../command-line.ts';

export const DEFAULT_NAME = 'gatehouse';

/** What is generated for deployments. Git ignores it. It is not in the local stack's directory, which --fresh empties. */
export const DEPLOY_FOLDER = '.gatehouse-deploy';

export interface Names {
  deployment: string;
  /** Where the files of this deployment are generated. */
  folder: string;
  service: string;
  database: string;
  buckets: { rulesets: string; segments: string };
  queues: { verdicts: string; dead: string };
  kv: string;
}

/** The platform's limit for the name of a Worker. */
const WORKER_NAME_MAX_CHARS = 63;

export function namesOf(deployment: string, folder: string): Names {
  if (!/^[a-z][a-z0-9-]{0,30}[a-z0-9]$/.test(deployment))
    throw new CommandError(
      `--name is 2 to 32 lower-case letters, digits and dashes. Choose another one than ${deployment}.`,
    );
  return {
    deployment,
    folder: join(folder, deployment),
    service: `${deployment}-service`,
    database: deployment,
    buckets: { rulesets: `${deployment}-rulesets`, segments: `${deployment}-segments` },
    queues: { verdicts: `${deployment}-verdicts`, dead: `${deployment}-verdicts-dead` },
    kv: `${deployment}-gate`,
  };
}

/** What a person types to run another command on the same deployment. */
export function commandOf(words: string, { deployment }: Pick<Names, 'deployment'>): string {
  return `npm run deploy -- ${words}${deployment === DEFAULT_NAME ? '' : ` --name ${deployment}`}`;
}

/** A host without dots. Dashes are doubled, so that a-b.com and a.b.com have two names. */
export const dashed = (host: string): string => host.replaceAll('-', '--').replaceAll('.', '-');

/** One edge Worker per host. */
export function edgeNameOf(names: Names, host: string): string {
  const whole = `${names.deployment}-edge-${dashed(host)}`;
  if (whole.length <= WORKER_NAME_MAX_CHARS) return whole;
  const hash = createHash('sha256').update(host).digest('hex').slice(0, 12);
  return `${whole.slice(0, WORKER_NAME_MAX_CHARS - hash.length - 1)}-${hash}`;
}

/** @throws CommandError unless the text is the host name of a site. */
export function siteHost(flag: string, text: string): string {
  const host = canonicalHostname(text);
  if (host === null || text.includes(':') || !host.includes('.') || host.startsWith('[') || /\.\d+$/.test(host))
    throw new CommandError(
      `${flag} is a host name such as www.example.com, without scheme, port and path. ${text} is not.`,
    );
  return host;
}
