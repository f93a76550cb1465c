/**
 * `node scripts/release-notes.ts TAG [URL]` prints the notes of a release: the changelog's part about that version. It
 * refuses a tag that is not the version of this checkout, and a version whose heading in the changelog has no day yet.
 * URL is where the files of the tag are shown, because a page of releases knows no relative links.
 */
import { readFileSync } from 'node:fs';
import { checkOneVersion } from './checks/one-version.ts';

export class ReleaseError extends Error {}

interface Release {
  tag: string;
  /** Of package.json. */
  version: string;
  changelog: string;
  /** Such as `https://git.example.com/owner/repository/blob/v1.2.3`. Without it, links stay relative. */
  filesUrl?: string;
}

/** @throws ReleaseError with one sentence that says what to do. */
export function releaseNotes({ tag, version, changelog, filesUrl }: Release): string {
  if (tag !== `v${version}`) {
    throw new ReleaseError(`The tag is ${tag} and package.json has ${version}. Tag the commit that has the version.`);
  }
  const [, heading = '', text = ''] = /^## (.*)\n([^]*?)(?=^## |$(?![^]))/m.exec(changelog) ?? [];
  const [found, day = ''] = heading.split(' ');
  if (found !== version) {
    throw new ReleaseError(`The first heading of CHANGELOG.md is "${heading}". Write what is new in ${version} there.`);
  }
  if (!/^\(\d{4}-\d\d-\d\d\)$/.test(day)) {
    throw new ReleaseError(`CHANGELOG.md says "${heading}". Write the day of the release: "${version} (2027-01-31)".`);
  }
  if (text.trim() === '') throw new ReleaseError(`CHANGELOG.md has no text about ${version}. Write what is new.`);
  const notes = filesUrl === undefined ? text : text.replaceAll(/\]\((?![a-z]+:|#)/g, `](${filesUrl}/`);
  return `${notes.trim()}\n`;
}

if (import.meta.main) {
  const [tag = '', filesUrl] = process.argv.slice(2);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  try {
    const differing = await checkOneVersion();
    if (differing.length > 0) throw new ReleaseError(differing.join('\n'));
    const changelog = readFileSync('CHANGELOG.md', 'utf8');
    process.stdout.write(releaseNotes({ tag, version, changelog, ...(filesUrl === undefined ? {} : { filesUrl }) }));
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
