/** Releases: which tags become one, with which notes, and what the workflow may do. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { releaseNotes } from '../../scripts/release-notes.ts';
import { expectRows } from '../support/rows.ts';

const changelog = `# Changelog

## 1.2.0 (2027-01-31)

- **Limits** count by path too: [limits](docs/limits.md#logins).
- See [the standard](https://example.com/a) and [above](#limits).

### Migration

None.

## 1.1.9 (2026-12-24)

- Something older.
`;
const release = { tag: 'v1.2.0', version: '1.2.0', changelog };

describe('the notes of a release', () => {
  test('are what the changelog says about that version, with its sections, and nothing of another', () => {
    const notes = releaseNotes(release);
    expect(notes.startsWith('- **Limits** count by path too')).toBe(true);
    expect(notes.endsWith('### Migration\n\nNone.\n')).toBe(true);
  });

  test('link to the files of the tag, and elsewhere as before', () => {
    const notes = releaseNotes({ ...release, filesUrl: 'https://git.example.com/o/r/blob/v1.2.0' });
    expect(notes).toContain('(https://git.example.com/o/r/blob/v1.2.0/docs/limits.md#logins)');
    expect(notes).toContain('[the standard](https://example.com/a) and [above](#limits)');
  });

  test('of the only version run to the end of the file', () => {
    const only = changelog.slice(0, changelog.indexOf('## 1.1.9'));
    expect(releaseNotes({ ...release, changelog: only })).toBe(releaseNotes(release));
  });

  test('refuse a tag, a version and a changelog that do not agree', () =>
    expectRows(
      [
        ['a tag of another version', { tag: 'v1.2.1' }, 'The tag is v1.2.1 and package.json has 1.2.0.'],
        ['a tag without its letter', { tag: '1.2.0' }, 'The tag is 1.2.0 and'],
        ['no tag', { tag: '' }, 'The tag is  and'],
        [
          'a changelog that begins with another version',
          { version: '1.3.0', tag: 'v1.3.0' },
          'Write what is new in 1.3.0',
        ],
        ['a version without a day', { changelog: changelog.replace('2027-01-31', 'unreleased') }, 'Write the day'],
        [
          'a version without text',
          { changelog: '## 1.2.0 (2027-01-31)\n\n## 1.1.9 (2026-12-24)\n\nOld.\n' },
          'no text',
        ],
        ['an empty changelog', { changelog: '' }, 'Write what is new in 1.2.0'],
      ],
      ([, changed, says]) => {
        expect(() => releaseNotes({ ...release, ...changed })).toThrow(says);
      },
    ));
});

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, { permissions?: Record<string, string>; environment?: string; steps: Step[] }>;
}
interface Step {
  uses?: string;
  run?: string;
}

const workflows = globSync('.github/workflows/*.yml').map((path) => ({
  path,
  workflow: parse(readFileSync(path, 'utf8')) as Workflow,
}));

test.each(workflows)('$path names every action by its commit', ({ workflow }) => {
  const used = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
  expect(used.length).toBeGreaterThan(0);
  // An action of this repository is of the commit that runs.
  expect(used.filter((name) => !/@[0-9a-f]{40}$/.test(name) && !name.startsWith('./'))).toEqual([]);
});

describe('the workflow of a release', () => {
  const { workflow } = workflows.find(({ path }) => path.endsWith('release.yml'))!;
  const commandsOf = (steps: Step[]): string => steps.map(({ run = '' }) => run).join('\n');

  test('runs code of packages only where it can write nothing and knows no secret', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    for (const { permissions, environment, steps } of Object.values(workflow.jobs)) {
      const runsCode = /npm (?:ci|test|run|pack)\b|node |\.ci\/run/.test(commandsOf(steps));
      expect(runsCode).toBe(permissions === undefined && environment === undefined);
    }
  });

  test('tests before it packs, and packs before it releases and publishes', () => {
    const [first, ...others] = Object.values(workflow.jobs);
    const commands = commandsOf(first?.steps ?? []);
    const at = ['release-notes.ts', '.ci/run', 'npm pack'].map((text) => commands.indexOf(text));
    expect([at.toSorted((a, b) => a - b), Math.min(...at) >= 0]).toEqual([at, true]);
    expect(others).toMatchObject([{ needs: 'test-and-pack' }, { needs: 'release', environment: 'npm' }]);
  });

  test('calls programs of this repository that exist', () => {
    const commands = commandsOf(Object.values(workflow.jobs).flatMap(({ steps }) => steps));
    const called = [...commands.matchAll(/(?:^|\s)((?:scripts|\.ci)\/[\w.-]+)/g)].map(([, path = '']) => path);
    expect(called.length).toBeGreaterThan(1);
    expect(called.filter((path) => !existsSync(path))).toEqual([]);
  });

  /** Runs a job's commands with stand-ins for `gh` and `npm`, which know `existing` and note what else they are asked. */
  function asksOf(job: string, tag: string, existing: string): string[] {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-release-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const name of ['cli', 'server']) {
      mkdirSync(join(folder, name, 'package'), { recursive: true });
      const text = JSON.stringify({ name: `@gatehouse/${name}`, version: tag.slice(1), main: 'x' }, null, 2);
      writeFileSync(join(folder, name, 'package', 'package.json'), text);
      execFileSync('tar', ['-czf', `${name}.tgz`, '-C', name, 'package'], { cwd: folder });
    }
    const standIn = `#!/bin/sh
case "$*" in *view*) case "$*" in *"${existing}"*) echo 1; exit 0 ;; esac; exit 1 ;; esac
echo "$*" >> asked
`;
    for (const name of ['gh', 'npm']) writeFileSync(join(folder, name), standIn, { mode: 0o755 });
    const commands = `sha256sum -- *.tgz > SHA256SUMS\n${commandsOf(workflow.jobs[job]?.steps ?? [])}`;
    const env = { PATH: `${folder}:/usr/bin:/bin`, GITHUB_REF_NAME: tag };
    execFileSync('bash', ['--norc', '-e', '-c', commands], { cwd: folder, env });
    const asked = join(folder, 'asked');
    return existsSync(asked) ? readFileSync(asked, 'utf8').trim().split('\n') : [];
  }

  test.each([
    ['v1.2.0', '--prerelease=false', '--tag latest'],
    ['v1.2.0-rc.1', '--prerelease=true', '--tag next'],
  ])('makes of %s a release with %s, and publishes with %s', (tag, kind, distTag) => {
    expect(asksOf('release', tag, 'nothing')).toEqual([expect.stringContaining(kind)]);
    const published = asksOf('publish', tag, 'nothing');
    expect(published).toEqual([expect.stringContaining('cli.tgz'), expect.stringContaining('server.tgz')]);
    expect(published.filter((line) => !line.includes(distTag))).toEqual([]);
  });

  test('does at a second run what the first one did not', () => {
    expect(asksOf('release', 'v1.2.0', 'v1.2.0')).toEqual([]);
    expect(asksOf('publish', 'v1.2.0', '@gatehouse/cli@1.2.0')).toEqual([expect.stringContaining('server.tgz')]);
  });
});
