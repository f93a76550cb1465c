/**
 * `${ENV:NAME}` in a file stands for a variable of the environment, so that a file in a repository has no secrets. A
 * reference is read when something is sent, and its value is in no message.
 */
import { failed, ok, type Result } from '../../result.ts';

/** The whole text is one reference. */
export const SECRET_REFERENCE = /^\$\{ENV:([A-Za-z_][A-Za-z0-9_]{0,127})\}$/;
const REFERENCES = /\$\{ENV:([A-Za-z_][A-Za-z0-9_]{0,127})\}/g;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Credentials of the job that runs the command, which a file in a pull request could otherwise send to any address. In any
 * letter case, as Windows finds variables.
 */
const CREDENTIALS =
  /^(?:(?:GITHUB|ACTIONS|CLOUDFLARE)_.*|CF_API_.*|GATEHOUSE_API_KEY|MASTER_KEY.*|CI_JOB_TOKEN|(?:NODE_AUTH|NPM)_TOKEN)$/i;

/** The first variable to which no file may refer. */
export function refusedName(text: string): string | null {
  return [...text.matchAll(REFERENCES)].map(([, name = '']) => name).find((name) => CREDENTIALS.test(name)) ?? null;
}

/** A text of the same form, to check what stands around the references. */
export function withoutReferences(text: string, instead = 'x'): string {
  return text.replaceAll(REFERENCES, instead);
}

/** The text with what the service shows in place of a secret. */
export function withHiddenReferences(text: string): string {
  return text.replaceAll(REFERENCES, '***');
}

/** The error says which variables to set. */
export function resolved(text: string, environment: Environment): Result<string, string> {
  const missing = [...text.matchAll(REFERENCES)].map(([, name = '']) => name).filter((name) => !environment[name]);
  if (missing.length > 0) {
    const names = [...new Set(missing)].join(', ');
    return failed(`The variable ${names} is not set. Set it to the secret that the file refers to`);
  }
  return ok(text.replaceAll(REFERENCES, (_, name: string) => environment[name] ?? ''));
}

/** A reference with a name made of these words: `${ENV:LIST_TOR_AUTHORIZATION}`. */
export function referenceFor(...words: readonly string[]): string {
  const name = words.map((word) => word.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')).join('_');
  return `\${ENV:${name.slice(0, 128)}}`;
}
