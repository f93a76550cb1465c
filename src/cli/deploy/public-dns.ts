/** What public DNS says about a host. A login that may not read the records of a zone has no other way to look. */
import { Resolver } from 'node:dns/promises';

const ANSWERS_WITHIN_MS = 5_000;
const ATTEMPTS = 2;
/** Codes for a name, or a record of this type, that does not exist. */
const NOT_THERE = new Set(['ENOTFOUND', 'ENODATA']);

export interface PublicDns {
  /** `null` where DNS does not answer. */
  isInPublicDns(host: string): Promise<boolean | null>;
}

/** @returns whether the host has an address or an alias; `null` when no server answered. */
export async function isInPublicDns(host: string): Promise<boolean | null> {
  const resolver = new Resolver({ timeout: ANSWERS_WITHIN_MS, tries: ATTEMPTS });
  const asked = [resolver.resolve4(host), resolver.resolve6(host), resolver.resolveCname(host)];
  const answers = await Promise.allSettled(asked);
  if (answers.some((answer) => answer.status === 'fulfilled' && answer.value.length > 0)) return true;
  const isCertain = answers.every(
    (answer) => answer.status === 'fulfilled' || NOT_THERE.has((answer.reason as NodeJS.ErrnoException).code ?? ''),
  );
  return isCertain ? false : null;
}
